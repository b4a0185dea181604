/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo.h - masks a secret in a server's answers, which may repeat the header of a request.
 *
 * Each character becomes '*', so lengths stay right. Bytes are held back only while they may be the
 * beginning of the secret, so streams stay streams. What a server sends in another form
 * (compressed, escaped, in pieces) is not found.
 */
#pragma once

#include <stddef.h>

enum {
	ECHO_SECRETS = 2,
	ECHO_BYTES = 4096, /* of one secret */
};

/* Zeroed at first; it borrows the secrets, which are not empty. */
struct echo_filter {
	struct echo_secret {
		const char *data;
		size_t size;
	} secrets[ECHO_SECRETS];
	size_t count;
	char held[ECHO_BYTES]; /* wiped by echo_end() */
	size_t nheld;
	size_t masked; /* of the bytes that come next, the number that belongs to a secret */
};

/* size: 1 to ECHO_BYTES. */
void echo_add(struct echo_filter *, const char *secret, size_t size);
/* Writes at most ECHO_BYTES more than size bytes; returns how many. */
size_t echo_pass(struct echo_filter *, const char *data, size_t size, char *out);
/* The bytes that were held; out has room for ECHO_BYTES. */
size_t echo_end(struct echo_filter *, char *out);
