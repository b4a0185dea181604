/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.h - files into and out of the workspace of a session, in pieces that a message can hold.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

/* Settings of cloister serve, from argv[1] on. */
struct transfer {
	int argc;
	char **argv;
};

/* The value of a call of that tool, which the caller owns. Takes the arguments; NULL with *e also
 * if the tool refuses. */
json_t *transfer_call(const struct transfer *, const char *tool, json_t *arguments, struct err *);
/* Writes base64 to a descriptor, and its size in bytes to *size. */
int transfer_write(int fd, const json_t *base64, size_t *size, struct err *);
/* Copies a file of the session (NULL: the default one) to a descriptor. */
int transfer_get(
    const struct transfer *, const char *session, const char *path, int fd, struct err *);
/* Copies what the descriptor has to a file of the session, in place of one of that name. */
int transfer_put(
    const struct transfer *, const char *session, int fd, const char *path, struct err *);
