/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parsing.h - parses a message in a thread if parsing takes long, while the loop serves others.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

struct parsing;

struct parsing_spec {
	char *data; /* allocated with malloc, like *scan; both are taken */
	size_t size, limit;
	struct scan *scan;
	/* Called later, or at once, with the results of jsonrpc_parse(); the function takes
	 * both. */
	void (*done)(void *self, json_t *message, json_t *answer);
	void *self;
};

struct parsing *parsing_new(const struct parsing_spec *);
/* Frees itself after this call. */
void parsing_start(struct parsing *);
/* The caller no longer waits; done() is not called. */
void parsing_leave(struct parsing *);
