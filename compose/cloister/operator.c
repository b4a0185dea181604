/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.c - sends a message to the socket of a daemon that only its operator can enter.
 *
 * It passes no gateway, so nothing that a client or a model sends takes this way, and no gateway
 * sees a secret. Trusts a listener only if the kernel reports this user, root, or (as root) any
 * user, because only root can make a socket in a directory of root. Texts of a reply come from
 * models, too; show.c replaces their control characters.
 */
#include "compose/cloister/operator.h"

#include "compose/cloister/client.h"
#include "compose/cloister/lease.h"
#include "compose/cloister/place.h"
#include "compose/cloister/show.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"
#include "common/codec/wire.h"
#include "common/daemon/operator.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	REPLY_S = 5,
	START_MS = 20000, /* for daemons that start */
	RETRY_MS = 20,
	FAILED = 1,
};

/* ---- the connection ---- */

static int
check_listener(int fd, const char *path, struct err *e)
{
	struct ucred who;
	socklen_t size = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return err_sys(e, "get the peer of %s", path);
	if (who.uid != geteuid() && who.uid != 0 && geteuid() != 0)
		return err_set(e, ERR_denied, "%s is served by uid %u, not by this user", path,
		    (unsigned)who.uid);
	return 0;
}

/* not_found: nobody listens. */
static int
reach(enum peer daemon, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (operator_name(daemon, address.sun_path, sizeof address.sun_path, place.run, e) < 0)
		return -1;
	if (fd < 0)
		return err_sys(e, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = REPLY_S },
	    sizeof(struct timeval));
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return check_listener(fd, address.sun_path, e) < 0 ? -1 : take_fd(&fd);
	if (errno == ENOENT || errno == ECONNREFUSED)
		return err_set(e, ERR_not_found, "%s does not run", edge_peer_name(daemon));
	return err_sys(e, "connect to %s", address.sun_path);
}

/* Starts the daemons if none run. */
static int
reach_or_start(enum peer daemon, struct err *e)
{
	int fd = reach(daemon, e);

	if (fd >= 0 || e->code != ERR_not_found)
		return fd;

	auto_fd int lease = lease_take(e);

	if (lease < 0)
		return -1;
	for (int ms = 0; ms < START_MS; ms += RETRY_MS) {
		fd = reach(daemon, e);
		if (fd >= 0 || e->code != ERR_not_found || lease == 0)
			return fd;
		usleep(RETRY_MS * 1000);
	}
	return err_add(e, "`cloister status` says why");
}

/* ---- the exchange ---- */

static int
send_message(int fd, enum msg_id id, const struct packed *content, struct err *e)
{
	const char *name = messages[id].name;
	struct blob bytes = { 0 };
	int status = wire_flatten(content, &bytes, e);
	struct iovec parts[] = { { (void *)(uintptr_t)name, strlen(name) + 1 },
		{ bytes.data, bytes.size } };
	const struct msghdr packet = { .msg_iov = parts, .msg_iovlen = COUNT(parts) };

	if (status == 0 && sendmsg(fd, &packet, MSG_NOSIGNAL) < 0) {
		bool ended = errno == EPIPE || errno == ECONNRESET;

		status = err_sys(e, "send to %s", edge_peer_name(message_operator(id)));
		if (ended) /* it may be there again soon */
			e->code = ERR_unavailable;
	}
	blob_wipe(&bytes);
	return status;
}

static int
decode(enum msg_id id, const char *data, size_t size, void *message, struct err *e)
{
	struct blob bytes = { (void *)(uintptr_t)data, size };
	struct packed packed = { 0 };
	int status = wire_raise(&bytes, &packed, e);

	if (status == 0)
		status = wire_decode(id, &packed, message, e);
	packed_clear(&packed);
	return status;
}

/* NULL: *e; *refused is set if the daemon sent it. */
static json_t *
read_reply(int fd, enum msg_id id, bool *refused, struct err *e)
{
	const enum msg_id reply = messages[id].reply;
	auto_free char *data = malloc(OPERATOR_REPLY_BYTES);
	auto_free void *message = calloc(1, messages[reply].size);
	struct failure failure = { 0 };
	json_t *value = NULL;
	ssize_t n;

	must(data != NULL && message != NULL);
	n = recv(fd, data, OPERATOR_REPLY_BYTES, 0);
	if (n < 1) {
		err_set(
		    e, ERR_unavailable, "%s did not reply", edge_peer_name(message_operator(id)));
	} else if (data[0] == 0) {
		if (decode(reply, data + 1, (size_t)n - 1, message, e) == 0)
			value = jschema_write(reply, message);
		message_clear(reply, message);
	} else if (decode(MSG_failure, data + 1, (size_t)n - 1, &failure, e) == 0) {
		*refused = true;
		err_set(e, err_parse(failure.code), "%s", failure.text);
	}
	message_clear(MSG_failure, &failure);
	return value;
}

static int
encode(enum msg_id id, const json_t *arguments, struct packed *content, struct err *e)
{
	auto_free void *message = calloc(1, messages[id].size);
	int status;

	must(message != NULL);
	status = jschema_read(id, arguments, message, e);
	if (status == 0)
		status = wire_encode(id, message, content, e);
	message_clear(id, message);
	return status;
}

json_t *
operator_ask(enum msg_id id, const json_t *arguments, bool *refused, struct err *e)
{
	struct packed content = { 0 };
	json_t *reply = NULL;

	if (encode(id, arguments, &content, e) == 0) {
		auto_fd int fd = reach_or_start(message_operator(id), e);

		if (fd >= 0 && send_message(fd, id, &content, e) == 0)
			reply = read_reply(fd, id, refused, e);
	} else {
		*refused = true;
	}
	for (size_t i = 0; i < content.count; i++)
		blob_wipe(&content.blobs[i]);
	packed_clear(&content);
	return reply;
}

/* ---- the command ---- */

/* Appends the lists of a further page. */
static void
append(json_t *all, const json_t *page)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)page, name, value) if (json_is_array(value))
	    json_array_extend(json_object_get(all, name), value);
}

/* All pages. NULL: *e. */
static json_t *
fetch(enum msg_id id, json_t *arguments, bool *refused, struct err *e)
{
	json_t *all = operator_ask(id, arguments, refused, e), *cursor, *page;

	while (all != NULL && (cursor = json_object_get(all, "next_cursor")) != NULL) {
		json_object_set(arguments, "cursor", cursor);
		json_object_del(all, "next_cursor");
		if ((page = operator_ask(id, arguments, refused, e)) == NULL) {
			json_decref(all);
			return NULL;
		}
		append(all, page);
		if ((cursor = json_object_get(page, "next_cursor")) != NULL)
			json_object_set(all, "next_cursor", cursor);
		json_decref(page);
	}
	return all;
}

static void
show(const struct command *c, const json_t *value, bool as_json)
{
	if (as_json) {
		json_dumpf(value, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		show_value(value, c->show);
	}
}

int
operator_fail(bool refused, const struct err *e)
{
	const char *hint = refused ? err_remedy(e->code) : "";

	if (refused)
		fprintf(stderr, "cloister: %s: %s\n", err_name(e->code), e->text);
	else
		fprintf(stderr, "cloister: %s\n", e->text);
	if (hint[0] != '\0')
		fprintf(stderr, "cloister: %s\n", hint);
	return refused ? FAILED : CLIENT_FAILED;
}

static int
obey(const struct command *c, struct words *words)
{
	bool refused = false;
	struct err e = { 0 };
	json_t *value = fetch(message_find(c->tool), words->arguments, &refused, &e);

	if (value == NULL)
		return operator_fail(refused, &e);
	show(c, value, words->as_json);
	json_decref(value);
	return 0;
}

/* A value that was typed leaves no copy in the heap. */
static void
wipe_and_free(void *data)
{
	if (data != NULL)
		explicit_bzero(data, malloc_usable_size(data));
	free(data);
}

int
operator_command(const struct command *c, int argc, char **argv)
{
	struct words words;
	struct err e;
	int status;

	if (words_help(c, argc, argv))
		return 0;
	json_set_alloc_funcs(malloc, wipe_and_free);
	if (words_read(c, &argc, argv, &words, &e) < 0)
		return words_fail(c, &e);
	place_load(c->words, argc, argv);
	status = obey(c, &words);
	json_decref(words.arguments);
	return status;
}
