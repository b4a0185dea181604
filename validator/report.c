/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - findings, edits and advice within the limits of schema.def, and the verdict.
 *
 * Trusts nothing: names in the texts come from a program and may have any length.  A text that is
 * too long is cut at a character boundary.
 */
#include "validator/report.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_TEXT = 1024, /* bytes of a message, an advice or a hint */
	MAX_FINDINGS = 256,
	MAX_EDITS = 256,
	MAX_ADVICE = 64,
	MAX_IMPORTS = 256,
	MAX_POSITION = 10000000, /* largest line or column */
};

static const struct {
	const char *name, *hint;
} rules[RULE_COUNT] = {
#define RULE(id, name, hint) { name, hint },
#include "validator/rules.def"
};

/* Makes text of vsnprintf(), which needed `wanted` bytes, end with a whole character. */
static void
cut(char text[MAX_TEXT + 1], int wanted)
{
	if (wanted > MAX_TEXT)
		text[utf8_whole(text, MAX_TEXT)] = '\0';
}

static uint64_t
position(uint64_t value)
{
	return value < MAX_POSITION ? value : MAX_POSITION;
}

bool
report_full(const struct report *report)
{
	return report->total >= MAX_FINDINGS;
}

void
report_finding(struct report *report, enum rule rule, uint64_t line, uint64_t column,
    const char *hint, const char *fmt, ...)
{
	char text[MAX_TEXT + 1];
	va_list ap;

	report->restricted |= rule != RULE_syntax_error;
	if (report->total++ >= MAX_FINDINGS)
		return;
	struct finding *finding = list_add(&report->out->findings, sizeof *finding);
	if (finding == NULL) {
		report->failed = true;
		return;
	}
	va_start(ap, fmt);
	cut(text, vsnprintf(text, sizeof text, fmt, ap));
	va_end(ap);
	*finding = (struct finding){
		.line = position(line),
		.column = position(column),
		.rule = strdup(rules[rule].name),
		.message = strdup(text),
		.hint = strdup(hint != NULL ? hint : rules[rule].hint),
	};
	if (finding->rule == NULL || finding->message == NULL || finding->hint == NULL)
		report->failed = true;
}

void
report_edit(struct report *report, const char *rule, uint64_t line, const char *fmt, ...)
{
	char text[MAX_TEXT + 1];
	va_list ap;

	if (report->out->edits.count >= MAX_EDITS)
		return;
	struct edit *edit = list_add(&report->out->edits, sizeof *edit);
	if (edit == NULL) {
		report->failed = true;
		return;
	}
	va_start(ap, fmt);
	cut(text, vsnprintf(text, sizeof text, fmt, ap));
	va_end(ap);
	*edit = (struct edit){ position(line), strdup(rule), strdup(text) };
	if (edit->rule == NULL || edit->message == NULL)
		report->failed = true;
}

void
report_forget_edits(struct report *report, size_t kept)
{
	while (report->out->edits.count > kept)
		message_clear(MSG_edit, &report->out->edits.items[--report->out->edits.count]);
}

void
report_advice(struct report *report, const char *fmt, ...)
{
	char text[MAX_TEXT + 1];
	va_list ap;

	if (report->out->recommendations.count >= MAX_ADVICE)
		return;
	va_start(ap, fmt);
	cut(text, vsnprintf(text, sizeof text, fmt, ap));
	va_end(ap);
	if (texts_add(&report->out->recommendations, text) != 0)
		report->failed = true;
}

void
report_import(struct report *report, const char *module)
{
	struct texts *imports = &report->out->analysis->imports;

	for (size_t n = 0; n < imports->count; n++)
		if (strcmp(imports->items[n], module) == 0)
			return;
	/* No real module has such a long name. */
	if (imports->count >= MAX_IMPORTS || strlen(module) > MAX_TEXT)
		return;
	if (texts_add(imports, module) != 0)
		report->failed = true;
}

int
report_begin(struct report *report, struct validation_report *out, struct err *e)
{
	*report = (struct report){ .out = out };
	out->validation = calloc(1, sizeof *out->validation);
	out->analysis = calloc(1, sizeof *out->analysis);
	if (out->validation == NULL || out->analysis == NULL)
		return err_sys(e, "begin a report");
	return 0;
}

/* Findings arrive nearly in order.  Insertion keeps the order of those at the same place. */
static void
sort_findings(struct finding *items, size_t count)
{
	for (size_t n = 1; n < count; n++) {
		struct finding moved = items[n];
		size_t at = n;

		while (at > 0 && (items[at - 1].line > moved.line ||
				     (items[at - 1].line == moved.line &&
					 items[at - 1].column > moved.column))) {
			items[at] = items[at - 1];
			at--;
		}
		items[at] = moved;
	}
}

static void
list_errors(struct report *report)
{
	for (size_t n = 0; n < report->out->findings.count; n++) {
		const struct finding *finding = &report->out->findings.items[n];
		char line[MAX_TEXT + 32];

		snprintf(
		    line, sizeof line, "Line %" PRIu64 ": %s", finding->line, finding->message);
		if (texts_add(&report->out->validation->errors, line) != 0)
			report->failed = true;
	}
}

static char *
verdict_text(const struct report *report, const struct policy *policy)
{
	const struct validation_report *out = report->out;
	char text[MAX_TEXT];

	if (report->total == 0)
		snprintf(
		    text, sizeof text, "Code passes the checks of profile %s", policy->set.title);
	else if (strcmp(out->findings.items[0].rule, rules[RULE_syntax_error].name) == 0)
		snprintf(text, sizeof text, "Code has a syntax error");
	else if (report->total > MAX_FINDINGS)
		snprintf(text, sizeof text,
		    "Code contains restricted operations: %" PRIu64
		    ", of which the first %d are listed",
		    report->total, MAX_FINDINGS);
	else
		snprintf(text, sizeof text, "Code contains restricted operations");
	return strdup(text);
}

int
report_end(struct report *report, const struct policy *policy, struct err *e)
{
	struct verdict *verdict = report->out->validation;

	if (report->restricted)
		report_advice(report, "Some operations may be restricted in sandbox environment");
	if (!report->failed) {
		sort_findings(report->out->findings.items, report->out->findings.count);
		list_errors(report);
		verdict->valid = report->total == 0;
		verdict->message = verdict_text(report, policy);
	}
	if (report->failed || verdict->message == NULL)
		return err_set(e, ERR_limit_exceeded, "code: no memory left for the report on it");
	return 0;
}
