/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approve.c - sends an order to approvald by the socket that only the operator can enter.
 *
 * It does not go through the gateway, so nothing that a client or a model sends takes this way.
 * Trusts a listener only if the kernel reports this user, root, or (as root) any user, because only
 * root can make a socket in a directory of root.  Subjects and reasons come from models; show.c
 * replaces their control characters.
 */
#include "compose/cloister/approve.h"

#include "compose/cloister/client.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/place.h"
#include "compose/cloister/show.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"
#include "common/codec/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	REPLY_BYTES = 1 << 20,
	REPLY_S = 5,
	FAILED = 1,
};

/* ---- the exchange ---- */

static int
reach(struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct ucred who;
	socklen_t size = sizeof who;

	if (place_socket("approve.sock", address.sun_path, e) < 0)
		return -1;
	if (fd < 0)
		return err_sys(e, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = REPLY_S },
	    sizeof(struct timeval));
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		err_sys(e, "connect to %s", address.sun_path);
		return errno == ENOENT || errno == ECONNREFUSED
		           ? err_add(e, "approvald does not run; `cloister up` starts it")
		           : -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return err_sys(e, "get the peer of %s", address.sun_path);
	if (who.uid != geteuid() && who.uid != 0 && geteuid() != 0)
		return err_set(e, ERR_denied, "%s is served by uid %u, not by this user",
		    address.sun_path, (unsigned)who.uid);
	return take_fd(&fd);
}

static int
send_order(int fd, struct approval_order *order, struct err *e)
{
	struct packed packed = { 0 };
	struct blob bytes = { 0 };
	int status = wire_encode(MSG_approval_order, order, &packed, e);

	if (status == 0)
		status = wire_flatten(&packed, &bytes, e);
	if (status == 0 && send(fd, bytes.data, bytes.size, MSG_NOSIGNAL) < 0)
		status = err_sys(e, "send to approvald");
	packed_clear(&packed);
	blob_clear(&bytes);
	return status;
}

/* *message is of that kind. */
static int
decode(enum msg_id id, const char *data, size_t size, void *message, struct err *e)
{
	struct blob bytes = blob_copy(data, size);
	struct packed packed = { 0 };
	int status = bytes.data == NULL ? err_sys(e, "reply") : wire_raise(&bytes, &packed, e);

	if (status == 0)
		status = wire_decode(id, &packed, message, e);
	packed_clear(&packed);
	blob_clear(&bytes);
	return status;
}

static int
read_reply(int fd, struct approval_list *list, struct err *e)
{
	auto_free char *data = malloc(REPLY_BYTES);
	struct failure failure = { 0 };
	ssize_t n = data == NULL ? -1 : recv(fd, data, REPLY_BYTES, 0);

	if (n < 1)
		return err_set(e, ERR_unavailable, "approvald did not reply");
	if (data[0] == 0)
		return decode(MSG_approval_list, data + 1, (size_t)n - 1, list, e);
	if (decode(MSG_failure, data + 1, (size_t)n - 1, &failure, e) == 0)
		err_set(e, err_parse(failure.code), "%s", failure.text);
	message_clear(MSG_failure, &failure);
	return -1;
}

static int
exchange(struct approval_order *order, struct approval_list *list, struct err *e)
{
	auto_fd int fd = reach(e);

	return fd < 0 || send_order(fd, order, e) < 0 ? -1 : read_reply(fd, list, e);
}

/* ---- the command ---- */

/* Appends to what earlier pages had; the next cursor goes into the order. */
static void
gather(json_t *all, struct approval_list *list, struct approval_order *order)
{
	json_t *page = jschema_write(MSG_approval_list, list);

	json_array_extend(json_object_get(all, "approvals"), json_object_get(page, "approvals"));
	json_decref(page);
	free(order->request_id);
	order->request_id = take_ptr(list->next_cursor);
}

/* NULL: *e. */
static json_t *
fetch(struct approval_order *order, struct err *e)
{
	json_t *all = json_pack("{s:[]}", "approvals");

	do {
		struct approval_list list = { 0 };

		if (exchange(order, &list, e) < 0) {
			json_decref(all);
			return NULL;
		}
		gather(all, &list, order);
		message_clear(MSG_approval_list, &list);
	} while (order->request_id != NULL);
	return all;
}

static int
obey(const struct command *c, const struct words *words, struct err *e)
{
	struct approval_order order = { 0 };
	json_t *all = NULL;

	if (jschema_read(MSG_approval_order, words->arguments, &order, e) == 0) {
		if (order.until != NULL)
			order.duration = approval_duration_namespace;
		all = fetch(&order, e);
	}
	message_clear(MSG_approval_order, &order);
	if (all == NULL)
		return -1;
	if (words->as_json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		show_value(all, c->show);
	}
	json_decref(all);
	return 0;
}

/* argv[0] is the command's last word. */
static const struct command *
command_of(char **argv)
{
	int nwords;
	struct err e;
	char *line[] = { (char[]){ "egress" }, argv[0], NULL };
	const struct command *c = commands_find(2, line, &nwords, &e);

	must(c != NULL);
	return c;
}

int
approve_run(int argc, char **argv)
{
	const struct command *c = command_of(argv);
	struct words words;
	struct err e;
	int status;

	if (words_help(c, argc, argv))
		return 0;
	if (words_read(c, &argc, argv, &words, &e) < 0)
		return words_fail(c, &e);
	place_load(c->words, argc, argv);
	status = obey(c, &words, &e);
	if (status < 0)
		fprintf(stderr, "cloister: %s\n", e.text);
	json_decref(words.arguments);
	return status < 0 ? FAILED : 0;
}
