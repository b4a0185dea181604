/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of common/table/compat.def, as data. */
#pragma once

#include "gateway/compat/call.h"

#include "common/base/err.h"
#include "common/table/schema.h"

/* clang-format off */
enum rows_system {
#define SYSTEM(system, ...) ROWS_##system,
#include "common/table/compat.def"
	ROWS_SYSTEMS,
};
/* clang-format on */

struct rows_name {
	const char *toolset;
	enum { ROWS_TEXT, ROWS_CODE, ROWS_FULL } errors;
	enum { ROWS_PLAIN, ROWS_STRUCTURED, ROWS_WRAPPED } content;
};

struct rows_offer {
	enum rows_system system;
	const char *tool;
	enum msg_id ours; /* MSG_none: answered by rows alone */
	const char *doc;
};

struct rows_take {
	enum rows_system system;
	const char *tool, *name, *type;
	const char *fallback; /* JSON text; NULL: none; rows_needed: the argument is needed */
	const char *ours;
	call_convert *how;
	const char *doc;
};

struct rows_set {
	enum rows_system system;
	const char *tool, *ours, *value;
};

struct rows_give {
	enum rows_system system;
	const char *tool, *key, *ours;
	call_convert *how;
	const char *fallback;
};

struct rows_leave {
	enum rows_system system;
	const char *tool, *key;
};

struct rows_result {
	enum rows_system system;
	const char *tool, *key, *type;
};

struct rows_named {
	enum rows_system system;
	enum err_code ours;
	const char *argument, *theirs;
};

extern const char rows_needed[];
extern const struct rows_name rows_names[ROWS_SYSTEMS];
/* The last row of each has no tool, and of rows_codes no name. */
extern const struct rows_offer rows_offers[];
extern const struct rows_take rows_takes[];
extern const struct rows_set rows_sets[];
extern const struct rows_give rows_gives[];
extern const struct rows_leave rows_leaves[];
extern const struct rows_result rows_results[];
extern const struct rows_named rows_codes[];
