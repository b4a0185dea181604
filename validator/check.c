/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - checks a request: its profile, its language and its size.
 *
 * Trusts nobody: the code and every argument come from a client.
 */
#include "validator/check.h"

#include "validator/python/python.h"

#include <inttypes.h>

/* A language with a checker has a row. */
static int (*const checkers[code_language_COUNT])(
    const struct source *, const struct policy *, bool auto_fix, struct report *, struct err *) = {
	[code_language_python] = python_check,
};

static int
check_source(const struct validate_code *ask, const struct policy *policy,
    struct validation_report *out, struct err *e)
{
	struct source source;
	struct report report;

	if (source_open(&source, ask->code.data, ask->code.size, e) != 0)
		return -1;
	int status = report_begin(&report, out, e);
	if (status == 0)
		status = checkers[ask->language](&source, policy, ask->auto_fix, &report, e);
	if (status == 0)
		status = report_end(&report, policy, e);
	source_close(&source);
	return status;
}

int
check_code(const struct validate_code *ask, uint64_t max_bytes, struct validation_report *out,
    struct err *e)
{
	struct policy policy;

	if (checkers[ask->language] == NULL)
		return err_set(e, ERR_runtime_missing,
		    "language: this server checks only python, not %s",
		    word_text(SET_code_language, ask->language));
	if (ask->code.size > max_bytes)
		return err_set(e, ERR_code_too_large,
		    "code: %zu bytes are over the limit of %" PRIu64, ask->code.size, max_bytes);
	if (policy_read(ask->profile, &ask->allowed_imports, &policy, e) != 0)
		return -1;
	return check_source(ask, &policy, out, e);
}
