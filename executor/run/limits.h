/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - limits of a run: the server's defaults, replaced by requested ones within the caps. */
#pragma once

#include "executor/sandbox/box.h"
#include "executor/sandbox/workspace.h"

struct limits {
	struct box_limits box;
	struct workspace_limits room;
	uint64_t timed; /* 1: a caller or the operator set wall_ms */
};

enum {
	LIMITS_MIB = 1 << 20,
	LIMITS_MIN_MEMORY = 16 << 20, /* an interpreter needs at least this */
};

/* The limits of a run that requests no others. */
extern struct limits limits_default;
/* Sets it from the checked options; fails with the name of a default that exceeds its cap. */
int limits_settle(struct err *);

/* Parses "512m", "1g", "67108864", "64kb", "1GiB" to bytes; invalid_argument names the field. */
int limits_bytes(const char *field, const char *text, uint64_t *bytes, struct err *);

/* Each limit that *asked names (NULL: none) replaces that of *limits; limit_exceeded names the
 * field and the cap.  The prefix precedes the field's name: "resource_limits.". */
int limits_ask(
    struct limits *, const char *prefix, const struct resource_limits *asked, struct err *);
/* The reverse: writes all limits in the units of the message. */
void limits_tell(const struct limits *, struct resource_limits *);
/* As limits_ask(), for seconds and for memory as text; 0 and NULL mean not requested. */
int limits_ask_seconds(struct limits *, const char *field, double seconds, struct err *);
int limits_ask_memory(struct limits *, const char *field, const char *text, struct err *);
/* The wall time, in seconds, and the size of an output of runs for which nobody set one, within the
 * caps; 0: the server's. */
void limits_usual(struct limits *, double seconds, uint64_t output_bytes);
