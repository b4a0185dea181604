/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compat.h - calls in the forms of a system that cloister replaces (common/table/compat.def).
 *
 * Names of arguments are translated before they are decoded, and keys of results are added after
 * they are encoded.  Without such a toolset nothing here runs but compat_on().
 */
#pragma once

#include "gateway/compat/rows.h"
#include "gateway/mcp/method.h"
#include "gateway/mcp/result.h"

/* Before the loop: with the toolset of one replaced system, its forms apply. */
void compat_choose(const char *toolsets);
bool compat_on(void);
/* The system whose forms apply. */
enum rows_system compat_system(void);

/*
 * Reads a call.  true: *answer is the whole answer.  false: the caller owns *call and asks the
 * daemon of (*call)->offer->ours.
 */
bool compat_open(const struct request *, const char *name, const json_t *arguments,
    struct compat_call **call, json_t **answer);
/* NULL is allowed. */
void compat_close(struct compat_call *);
/* Results of tools/call; NULL: no memory.  The first takes the rendered parts. */
json_t *compat_result(struct compat_call *, const struct revision *, struct rendered);
json_t *compat_error(const struct compat_call *, const struct revision *, const struct err *);

static inline void
auto_compat_(struct compat_call **call)
{
	compat_close(*call);
}

#define auto_compat __attribute__((cleanup(auto_compat_)))
