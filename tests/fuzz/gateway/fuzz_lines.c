/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_lines.c - what comes in over stdio, from the bytes to a request.
 *
 * Input: the limit of a line and the size of a read (1 byte each), and what is left is the stream.
 * However reads cut it, each line is a message or has an answer that says what is wrong.
 */
#include "common/base/auto.h"
#include "common/base/err.h"
#include "gateway/rpc/jsonrpc.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_sendable(json_t *answer)
{
	auto_free char *text = json_dumps(answer, JSON_COMPACT);

	must(text != NULL && strchr(text, '\n') == NULL);
	json_decref(answer);
}

static void
check_message(json_t *message)
{
	struct rpc rpc = { 0 };
	json_t *answer = jsonrpc_read(message, &rpc);

	if (answer != NULL)
		check_sendable(answer);
	else
		must(rpc.kind == RPC_response || rpc.method != NULL);
}

static void
check_line(const struct line *line)
{
	json_t *answer = NULL, *message = jsonrpc_parse(line, &answer);

	must((message != NULL) != (answer != NULL));
	if (answer != NULL)
		check_sendable(answer);
	if (message != NULL)
		check_message(message);
	json_decref(message);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return -1;

	struct lines lines = { .limit = 16 + data[0] * 16u };
	size_t step = data[1] % 64 + 1;
	struct line line;

	for (data += 2, size -= 2; size > 0;) {
		size_t room;
		char *to = lines_room(&lines, &room);

		must(to != NULL && room > 0);

		size_t n = size < step ? size : step;

		n = n < room ? n : room;
		memcpy(to, data, n);
		lines_filled(&lines, n);
		data += n;
		size -= n;
		while (lines_next(&lines, &line))
			check_line(&line);
	}
	if (lines_last(&lines, &line))
		check_line(&line);
	lines_free(&lines);
	return 0;
}
