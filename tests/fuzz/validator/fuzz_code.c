/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_code.c - any text as code to be checked, under any profile, with auto_fix.
 *
 * A check ends in a report within the bounds of the schema or in an error that is the code's own
 * fault, and code that auto_fix offers parses.
 */
#include "common/base/auto.h"
#include "common/codec/wire.h"
#include "validator/check.h"
#include "validator/python/python.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const profiles[] = { "strict", "basic", "filesystem,network", "open" };

static void
start_python(void)
{
	static bool started;
	struct err e;

	if (started)
		return;
	must(python_open(256 << 20, &e) == 0);
	started = true;
}

static void
check(struct validate_code *ask, struct validation_report *report)
{
	struct err e = { 0 };

	if (check_code(ask, 1 << 20, report, &e) != 0)
		must(e.code == ERR_invalid_argument || e.code == ERR_limit_exceeded);
}

static void
check_fixed(const struct blob *fixed)
{
	char open[] = "open";
	struct validate_code again = { .code = *fixed, .profile = open };
	struct validation_report report = { 0 };

	check(&again, &report);
	/* What only the compiler finds is no part of the promise. */
	for (size_t i = 0; i < report.findings.count; i++)
		must(strstr(report.analysis->estimated_complexity, "unknown") == NULL);
	message_clear(MSG_validation_report, &report);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct validation_report report = { 0 };
	struct packed packed;
	struct err e;

	if (size < 2)
		return 0;
	start_python();
	struct validate_code ask = {
		.code = blob_copy(data + 1, size - 1),
		.profile = (char *)(uintptr_t)profiles[data[0] % COUNT(profiles)],
		.auto_fix = data[0] >= 128,
	};
	must(ask.code.data != NULL);
	check(&ask, &report);
	blob_clear(&ask.code);
	if (report.fixed_code.data != NULL)
		check_fixed(&report.fixed_code);
	if (report.validation != NULL && report.validation->message != NULL) {
		must(wire_encode(MSG_validation_report, &report, &packed, &e) == 0);
		packed_clear(&packed);
	}
	message_clear(MSG_validation_report, &report);
	return 0;
}
