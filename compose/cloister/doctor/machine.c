/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - collects what the checks look at.
 *
 * Trusts the kernel, and the daemons of this user. What the executor found out about boxes and
 * interpreters is asked of it and not tried again here.
 */
#include "compose/cloister/doctor/machine.h"

#include "compose/cloister/client.h"
#include "compose/cloister/differences.h"
#include "compose/cloister/place.h"
#include "compose/cloister/printed.h"
#include "compose/cloister/reach.h"

#include "common/base/auto.h"
#include "common/jail/landlock.h"
#include "common/table/edges.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---- */

int
machine_text(const char *directory, const char *name, char *text, size_t size)
{
	char path[PLACE_PATH];
	int length = snprintf(path, sizeof path, "%s/%s", directory, name);
	auto_fd int fd = length < PLACE_PATH ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		return -1;
	text[n] = '\0';
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return 0;
}

int64_t
machine_number(const char *directory, const char *name, int64_t absent)
{
	char text[64];

	return machine_text(directory, name, text, sizeof text) < 0 ? absent
	                                                            : strtoll(text, NULL, 10);
}

/* ---- settings ---- */

/* The text between the quotes of a printed setting, from malloc; NULL: it has no such line. */
static char *
setting(const char *printed, const char *name)
{
	size_t size = 0;
	const char *value = printed_value(printed, name, strlen(name), &size);

	return value != NULL && size >= 2 ? strndup(value + 1, size - 2) : NULL;
}

static void
read_settings(struct machine *m)
{
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++) {
		auto_free char *printed = printed_by(edge_peer_name(peer), "--print-settings");

		if (printed == NULL) {
			free(m->refusing);
			m->refusing = strdup(edge_peer_name(peer));
		} else if (peer == PEER_gateway) {
			m->listen = setting(printed, "listen");
			m->credentials = setting(printed, "credentials");
		}
	}
	if (m->credentials != NULL && *m->credentials != '\0')
		return;
	free(take_ptr(m->credentials));
	must(asprintf(&m->credentials, "%s/credentials", m->state) > 0);
}

/* ---- daemons ---- */

/* The settings of `cloister serve`: where the daemons are, and that it shall not wait for long. */
static size_t
serve_settings(char *argv[8])
{
	size_t count = 0;

	must((argv[count++] = strdup("doctor")) != NULL);
	must((argv[count++] = strdup("--accept-running")) != NULL);
	must((argv[count++] = strdup("--call-timeout-ms=10000")) != NULL);
	must(asprintf(&argv[count++], "--run=%s", place.run) > 0);
	must(asprintf(&argv[count++], "--state=%s", place.state) > 0);
	if (place.config[0] != '\0')
		must(asprintf(&argv[count++], "--config=%s", place.config) > 0);
	return count;
}

/* The server's own lines on stderr would repeat what checks say. */
static json_t *
ask_quietly(const struct client_call *call, struct err *e)
{
	auto_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC),
		    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int status;

	dup2(null, STDERR_FILENO);

	json_t *reply = client_ask(call, &status, e);

	if (kept >= 0)
		dup2(kept, STDERR_FILENO);
	return reply;
}

static void
ask_info(struct machine *m)
{
	char *argv[8] = { 0 };
	struct client_call call = { .tool = "get_sandbox_info",
		.arguments = json_object(),
		.argc = (int)serve_settings(argv),
		.argv = argv };
	struct err e = { .text = "they refuse get_sandbox_info" };
	json_t *reply = ask_quietly(&call, &e), *value = client_value(reply);

	if (json_is_object(json_object_get(value, "isolation")))
		m->info = json_incref(value);
	else
		snprintf(m->silent, sizeof m->silent, "the daemons do not answer: %s", e.text);
	json_decref(value);
	json_decref(reply);
	json_decref(call.arguments);
	for (int i = 0; i < call.argc; i++)
		free(argv[i]);
}

static void
ask_daemons(struct machine *m)
{
	struct err e;
	auto_free char *status = reach_status(&e);

	m->status = status == NULL ? NULL : json_loads(status, 0, NULL);
	m->running = m->status != NULL || reach_daemons_run();
	if (!m->running)
		snprintf(m->silent, sizeof m->silent, "no daemons run; `cloister up` starts them");
	else if (m->status != NULL && !json_is_true(json_object_get(m->status, "ready")))
		snprintf(m->silent, sizeof m->silent, "the daemons are not ready");
	else
		ask_info(m);
	m->differences = m->running ? differences_line() : NULL;
}

void
machine_open(struct machine *m)
{
	static char self[PLACE_PATH], builder[PLACE_PATH];
	struct err e;

	*m = (struct machine){ .proc = "/proc",
		.cgroup = "/sys/fs/cgroup",
		.programs = "/usr/bin",
		.certificates = "/etc/ssl/certs/ca-certificates.crt",
		.state = place.state,
		.search = getenv("PATH") ?: "",
		.self = place_self(self, &e) == 0 ? self : "",
		.builder = place_program("cloister-builder", builder, &e) == 0 ? builder : "",
		.uid = geteuid(),
		.landlock = landlock_abi(),
		.now_s = time(NULL) };
	read_settings(m);
	ask_daemons(m);
}

void
machine_close(struct machine *m)
{
	free(m->listen);
	free(m->credentials);
	free(m->refusing);
	free(m->differences);
	json_decref(m->status);
	json_decref(m->info);
}
