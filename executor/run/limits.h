/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what a run may use: the server's defaults, then what was asked, within the caps. */
#pragma once

#include "executor/sandbox/box.h"

struct limits {
	struct box_limits box;
	struct workspace_limits room;
};

enum {
	LIMITS_MIB = 1 << 20,
	LIMITS_MIN_MEMORY = 16 << 20, /* less does not hold an interpreter */
};

/* Of a run that asks for nothing. */
extern struct limits limits_default;
/* Fills it from the options, once they are checked; a default over its cap is refused by name. */
int limits_settle(struct err *);

/* "512m", "1g", "67108864", "64kb", "1GiB" in bytes; invalid_argument naming the field. */
int limits_bytes(const char *field, const char *text, uint64_t *bytes, struct err *);

/* Each limit that *asked names (NULL: none) replaces that of *limits; limit_exceeded names the
 * field and the cap.  Fields are named with the prefix in front: "resource_limits.". */
int limits_ask(
    struct limits *, const char *prefix, const struct resource_limits *asked, struct err *);
/* The other way: all of them, in the units of the message. */
void limits_tell(const struct limits *, struct resource_limits *);
/* As limits_ask, for seconds and for memory as text; 0 and NULL: not asked. */
int limits_ask_seconds(struct limits *, const char *field, double seconds, struct err *);
int limits_ask_memory(struct limits *, const char *field, const char *text, struct err *);
