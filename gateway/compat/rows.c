/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - common/table/compat.def as arrays; no code. */
#include "gateway/compat/rows.h"

#include "gateway/compat/convert.h"

const char rows_needed[] = "needed";

/* clang-format off */
#define NEEDED rows_needed

const struct rows_name rows_names[ROWS_SYSTEMS] = {
#define SYSTEM(system, toolset, errors, content) \
	[ROWS_##system] = { toolset, ROWS_##errors, ROWS_##content },
#include "common/table/compat.def"
};

const struct rows_offer rows_offers[] = {
#define OFFER(system, tool, ours, doc) { ROWS_##system, #tool, MSG_##ours, doc },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_take rows_takes[] = {
#define TAKE(system, tool, name, type, fallback, ours, how, doc) \
	{ ROWS_##system, #tool, #name, type, fallback, ours, convert_##how, doc },
#define REST(system, tool, name, ours) \
	{ ROWS_##system, #tool, #name, "string", NULL, ours, convert_same, NULL },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_set rows_sets[] = {
#define SET(system, tool, ours, value) { ROWS_##system, #tool, ours, value },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_give rows_gives[] = {
#define GIVE(system, tool, key, ours, how, fallback) \
	{ ROWS_##system, #tool, key, ours, convert_##how, fallback },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_leave rows_leaves[] = {
#define LEAVE(system, tool, key) { ROWS_##system, #tool, key },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_result rows_results[] = {
#define RESULT(system, tool, key, type) { ROWS_##system, #tool, key, type },
#include "common/table/compat.def"
	{ 0 },
};

const struct rows_named rows_codes[] = {
#define NAMED(system, ours, argument, theirs) { ROWS_##system, ERR_##ours, argument, theirs },
#include "common/table/compat.def"
	{ 0 },
};
/* clang-format on */
