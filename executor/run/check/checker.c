/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - the statements that load the checkers and let them rehearse.
 *
 * Nothing in them comes from outside, and what they write is not looked at.
 */
#include "executor/run/check/checker.h"

#include "common/base/auto.h"

#include <string.h>

enum {
	PREPARE_MS = 20000,
	PREPARE_BYTES = 256,
};

static const char *const preparations[] = {
	[language_node] = CHECKER_MODULE ".prepare(\"node\")",
	[language_shell] = CHECKER_MODULE ".prepare(\"shell\")",
};

bool
checker_preparation(unsigned language, struct sandbox_code *code)
{
	const char *text = language < COUNT(preparations) ? preparations[language] : NULL;

	if (text == NULL)
		return false;
	*code = (struct sandbox_code){
		.language = language_node,
		.code = {
			.data = (void *)(uintptr_t)text,
			.size = strlen(text),
			.statement = true,
			.wall_ms = PREPARE_MS,
			.cpu_ms = PREPARE_MS,
			.output_bytes = PREPARE_BYTES,
		},
	};
	return true;
}
