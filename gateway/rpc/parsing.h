/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parsing.h - messages of which one takes long to parse: a thread does so, while others are served.
 */
#pragma once

#include "gateway/rpc/jsonrpc.h"

struct parsing;

struct parsing_spec {
	char *data; /* of malloc, as is *scan; both are taken */
	size_t size, limit;
	struct scan *scan;
	/* Later, or at once: as jsonrpc_parse(); both are the callee's. */
	void (*done)(void *self, json_t *message, json_t *answer);
	void *self;
};

struct parsing *parsing_new(const struct parsing_spec *);
/* From here on it frees itself. */
void parsing_start(struct parsing *);
/* Nobody waits any more; done() is not called. */
void parsing_leave(struct parsing *);
