/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_findings.c - checks programs, for test_rules.py and tests/bench/refusals.
 *
 *     rule_findings PROFILE [messages|advice]
 *
 * Reads programs that end with a zero byte. Prints the findings of each under the profile in one
 * line, "1:8 forbidden-import, ...", empty if there is none; or "rule: message", or what is
 * advised, separated by tabs.
 */
#include "checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_messages(const struct checked *got)
{
	for (size_t n = 0; n < got->report.findings.count; n++) {
		const struct finding *f = &got->report.findings.items[n];

		printf("%s%s: %s", n == 0 ? "" : "\t", f->rule, f->message);
	}
	puts("");
}

static void
print_advice(const struct checked *got)
{
	for (size_t n = 0; n < got->report.recommendations.count; n++)
		printf("%s%s", n == 0 ? "" : "\t", got->report.recommendations.items[n]);
	puts("");
}

int
main(int argc, char **argv)
{
	static struct checked got;
	char *text = NULL;
	size_t room = 0;
	ssize_t size;

	if (argc < 2)
		return 2;
	checked_start(512 << 20);
	while ((size = getdelim(&text, &room, 0, stdin)) > 0) {
		size -= text[size - 1] == 0;
		checked_run(&got, text, (size_t)size, argv[1], NULL, false);
		if (argc > 2 && got.status == 0)
			(strcmp(argv[2], "advice") == 0 ? print_advice : print_messages)(&got);
		else
			puts(got.status == 0 ? got.found : got.error.text);
		checked_clear(&got);
	}
	free(text);
	return 0;
}
