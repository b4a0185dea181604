/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - collects the findings of a check in its reply. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"
#include "validator/policy.h"

enum rule {
#define RULE(id, name, hint) RULE_##id,
#include "validator/rules.def"
	RULE_COUNT
};

struct report {
	struct validation_report *out; /* borrowed */
	uint64_t total;                /* findings, including those that do not fit into *out */
	bool restricted;               /* some findings are not syntax errors */
	bool failed;                   /* out of memory; report_end() reports it */
};

/* *out is zeroed; the caller clears it, also after an error. */
int report_begin(struct report *, struct validation_report *out, struct err *);
/* True if further findings are only counted. */
bool report_full(const struct report *);
/* hint NULL: the hint of the rule. */
void report_finding(struct report *, enum rule, uint64_t line, uint64_t column, const char *hint,
    const char *fmt, ...) PRINTF(6, 7);
void report_edit(struct report *, const char *rule, uint64_t line, const char *fmt, ...)
    PRINTF(4, 5);
/* Drops all edits after the first `kept`. */
void report_forget_edits(struct report *, size_t kept);
void report_advice(struct report *, const char *fmt, ...) PRINTF(2, 3);
/* A module that the code imports; duplicates are dropped. */
void report_import(struct report *, const char *module);
/* Sorts the findings and sets the verdict. */
int report_end(struct report *, const struct policy *, struct err *);
