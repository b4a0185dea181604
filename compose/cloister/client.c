/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - starts `cloister serve` as a child, writes one request and reads until its reply.
 *
 * Trusts the server, which is this program. What the reply contains comes from programs in boxes
 * and is not interpreted here.
 */
#include "compose/cloister/client.h"

#include "compose/cloister/place.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct server {
	pid_t pid;
	FILE *in, *out;
};

/* ---- the server ---- */

static void
become_server(int in, int out, int argc, char **argv)
{
	/* All tools, unless the user's own flag chooses others. A person gets the whole output; a
	 * model would get a part. */
	static const char *const settings[] = { "serve", "--toolsets=all", "--result-bytes=0",
		"--error-bytes=0" };
	char self[PLACE_PATH];
	struct err e;
	const char **line = calloc((size_t)argc + COUNT(settings) + 1, sizeof(*line));

	if (line == NULL || place_program("cloister", self, &e) < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0)
		_exit(CLIENT_FAILED);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Its log is only of interest if the call fails. */
	setenv("CLOISTER_GATEWAY_LOG_LEVEL", "warn", 0);
	line[0] = self;
	memcpy(line + 1, settings, sizeof settings);
	for (int i = 1; i < argc; i++)
		line[COUNT(settings) + (size_t)i] = argv[i];
	execv(self, (char *const *)line);
	_exit(CLIENT_FAILED);
}

static int
start_server(struct server *server, int argc, char **argv, struct err *e)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return err_sys(e, "pipe");
	server->pid = fork();
	if (server->pid < 0)
		return err_sys(e, "fork");
	if (server->pid == 0)
		become_server(to[0], from[1], argc, argv);
	close(to[0]);
	close(from[1]);
	server->in = fdopen(to[1], "w");
	server->out = fdopen(from[0], "r");
	must(server->in != NULL && server->out != NULL);
	return 0;
}

/* The exit code of the command if the server did not reply: a server that refuses its settings
 * exits with 2. */
static int
end_server(struct server *server)
{
	int status = 0;

	fclose(server->in);
	fclose(server->out);
	while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == CLIENT_USAGE ? CLIENT_USAGE
	                                                                : CLIENT_FAILED;
}

/* ---- the call ---- */

static json_t *
make_request(const struct client_call *call)
{
	json_t *meta = json_pack("{s:s, s:{}, s:i}", "io.modelcontextprotocol/protocolVersion",
	    "2026-07-28", "io.modelcontextprotocol/clientCapabilities", "progressToken", 1);
	json_t *params = call->uri != NULL ? json_pack("{s:s}", "uri", call->uri)
	                                   : json_pack("{s:s, s:O}", "name", call->tool,
						 "arguments", call->arguments);

	if (call->progress == NULL)
		json_object_del(meta, "progressToken");
	json_object_set_new(params, "_meta", meta);
	return json_pack("{s:s, s:i, s:s, s:o}", "jsonrpc", "2.0", "id", 1, "method",
	    call->uri != NULL ? "resources/read" : "tools/call", "params", params);
}

static int
send_call(struct server *server, const struct client_call *call, struct err *e)
{
	json_t *request = make_request(call);

	if (request == NULL)
		return err_set(e, ERR_invalid_argument, "the name of the tool is not UTF-8");

	int status = json_dumpf(request, server->in, JSON_COMPACT);

	json_decref(request);
	if (status < 0 || fputc('\n', server->in) == EOF || fflush(server->in) != 0)
		return err_sys(e, "write to cloister serve");
	return 0;
}

static void
report_progress(const struct client_call *call, const json_t *message)
{
	const json_t *params = json_object_get(message, "params");
	const json_t *meta = json_object_get(params, "_meta");
	const char *channel = json_string_value(json_object_get(meta, "cloister/channel"));
	bool gap = json_is_true(json_object_get(meta, "cloister/gap"));

	if (call->progress != NULL && channel != NULL)
		call->progress(call->state, channel, gap, json_object_get(params, "message"));
}

static json_t *
await_reply(struct server *server, const struct client_call *call, struct err *e)
{
	auto_free char *line = NULL;
	size_t room = 0;
	ssize_t size;

	while ((size = getline(&line, &room, server->out)) > 0) {
		json_t *message = json_loadb(line, (size_t)size, JSON_ALLOW_NUL, NULL);

		if (message == NULL) {
			err_set(e, ERR_internal, "cloister serve sent invalid JSON");
			return NULL;
		}
		if (json_object_get(message, "id") != NULL)
			return message;
		report_progress(call, message);
		json_decref(message);
	}
	err_set(e, ERR_unavailable, "cloister serve exited without a reply");
	return NULL;
}

json_t *
client_ask(const struct client_call *call, int *status, struct err *e)
{
	struct server server = { 0 };
	json_t *reply = NULL;

	*status = CLIENT_FAILED;
	signal(SIGPIPE, SIG_IGN);
	if (start_server(&server, call->argc, call->argv, e) < 0)
		return NULL;
	if (send_call(&server, call, e) == 0)
		reply = await_reply(&server, call, e);
	*status = end_server(&server);
	return reply;
}

json_t *
client_value(const json_t *reply)
{
	const json_t *result = json_object_get(reply, "result");
	json_t *content = json_object_get(result, "structuredContent");
	json_t *text =
	    json_object_get(json_array_get(json_object_get(result, "content"), 0), "text");

	if (content != NULL)
		return json_incref(content);
	if ((content = json_object_get(result, "contents")) != NULL)
		return json_incref(json_object_get(json_array_get(content, 0), "text"));
	if (text == NULL)
		return NULL;

	/* The value of a failed call is only in the text. */
	json_t *value =
	    json_loadb(json_string_value(text), json_string_length(text), JSON_ALLOW_NUL, NULL);

	return value != NULL ? value : json_incref(text);
}
