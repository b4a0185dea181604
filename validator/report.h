/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a check found, gathered into the message that answers it. */
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
	struct validation_report *out; /* the caller's */
	uint64_t total;                /* findings, also those beyond what *out may hold */
	bool restricted;               /* some are more than errors of syntax */
	bool failed;                   /* memory ran out; report_end() says so */
};

/* *out is zeroed, and the caller's to clear, also after an error. */
int report_begin(struct report *, struct validation_report *out, struct err *);
/* From now on findings are only counted. */
bool report_full(const struct report *);
/* hint NULL: the rule's own. */
void report_finding(struct report *, enum rule, uint64_t line, uint64_t column, const char *hint,
    const char *fmt, ...) PRINTF(6, 7);
void report_edit(struct report *, const char *rule, uint64_t line, const char *fmt, ...)
    PRINTF(4, 5);
/* Back to the first `kept` edits. */
void report_forget_edits(struct report *, size_t kept);
void report_advice(struct report *, const char *fmt, ...) PRINTF(2, 3);
/* A module that the code imports; each is kept once. */
void report_import(struct report *, const char *module);
/* Sorts the findings and says the verdict. */
int report_end(struct report *, const struct policy *, struct err *);
