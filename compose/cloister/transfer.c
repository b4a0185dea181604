/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c - one call of a tool for each piece.
 *
 * Trusts neither the server nor the session's programs, which may change a file between two pieces:
 * then its size differs, and the copy fails.
 */
#include "compose/cloister/transfer.h"

#include "compose/cloister/client.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/codec/base64.h"

#include <sodium.h>
#include <unistd.h>

enum {
	PIECE_BYTES = 8 << 20,
};

json_t *
transfer_call(const struct transfer *t, const char *tool, json_t *arguments, struct err *e)
{
	const struct client_call call = {
		.tool = tool, .arguments = arguments, .argc = t->argc, .argv = t->argv
	};
	int status;
	json_t *reply = arguments == NULL ? NULL : client_ask(&call, &status, e);
	json_t *value = reply == NULL ? NULL : client_value(reply);
	const json_t *error = json_object_get(value, "error");

	if (reply != NULL && (value == NULL || error != NULL)) {
		err_set(e, ERR_unavailable, "%s",
		    json_string_value(json_object_get(error, "message")) ?: "no result");
		json_decref(value);
		value = NULL;
	}
	json_decref(reply);
	json_decref(arguments);
	return value;
}

int
transfer_write(int fd, const json_t *base64, size_t *size, struct err *e)
{
	size_t length = json_string_length(base64), room = length / 4 * 3 + 3;
	auto_free unsigned char *data = malloc(room);

	if (data == NULL)
		return err_sys(e, "content");
	if (base64 == NULL || sodium_base642bin(data, room, json_string_value(base64), length, NULL,
				  size, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
		return err_set(e, ERR_internal, "the content is not base64");
	return fdio_write(fd, data, *size, e);
}

/* A copy from a session that is under way. */
struct getting {
	const struct transfer *transfer;
	const char *session, *path;
	int fd;
	json_int_t at, total; /* total: the size of the file, as the last piece says it */
};

static int
get_piece(struct getting *g, struct err *e)
{
	json_t *piece = transfer_call(g->transfer, "sandbox_read_artifact",
	    json_pack("{s:s*, s:s, s:I, s:I}", "session_id", g->session, "path", g->path, "offset",
		g->at, "length", (json_int_t)PIECE_BYTES),
	    e);
	const json_t *content = json_object_get(piece, "content_base64");
	size_t size = 0;
	int status = piece == NULL ? -1 : transfer_write(g->fd, content, &size, e);

	g->total = json_integer_value(json_object_get(piece, "total_size"));
	g->at += (json_int_t)size;
	json_decref(piece);
	if (status == 0 && size == 0 && g->at < g->total)
		return err_set(e, ERR_unavailable, "the file changed meanwhile");
	return status;
}

int
transfer_get(const struct transfer *t, const char *session, const char *path, int fd, struct err *e)
{
	struct getting getting = { .transfer = t, .session = session, .path = path, .fd = fd };

	do
		if (get_piece(&getting, e) < 0)
			return -1;
	while (getting.at < getting.total);
	return 0;
}

static int
put_piece(const struct transfer *t, const char *session, const char *path, json_int_t at,
    const struct blob *bytes, struct err *e)
{
	auto_free char *text = malloc(base64_room(bytes->size));

	if (text == NULL)
		return err_sys(e, "content");
	base64_write(text, bytes->data, bytes->size);

	json_t *value = transfer_call(t, "sandbox_upload_file",
	    json_pack("{s:s*, s:s, s:s, s:b, s:I}", "session_id", session, "filename", path,
		"content_base64", text, "overwrite", at == 0, "offset", at),
	    e);

	json_decref(value);
	return value != NULL ? 0 : -1;
}

/* Up to the end of the file; -1 with *e. */
static ssize_t
fill(int fd, char *data, size_t room, struct err *e)
{
	size_t have = 0;
	ssize_t n = 1;

	for (; n > 0 && have < room; have += (size_t)n) {
		n = read(fd, data + have, room - have);
		if (n < 0)
			return err_sys(e, "read");
	}
	return (ssize_t)have;
}

int
transfer_put(const struct transfer *t, const char *session, int fd, const char *path, struct err *e)
{
	auto_free char *data = malloc(PIECE_BYTES);
	struct blob piece = { data, 1 };
	json_int_t at = 0;

	if (data == NULL)
		return err_sys(e, "content");
	/* An empty file is a piece, too. */
	for (; piece.size > 0; at += (json_int_t)piece.size) {
		ssize_t n = fill(fd, data, PIECE_BYTES, e);

		if (n < 0)
			return -1;
		piece.size = (size_t)n;
		if ((n > 0 || at == 0) && put_piece(t, session, path, at, &piece, e) < 0)
			return -1;
	}
	return 0;
}
