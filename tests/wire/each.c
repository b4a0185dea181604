/* SPDX-License-Identifier: Apache-2.0 */
/* each.c - names and runs the tests of every message. */
#include "tests/wire/each.h"

#include "common/base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum {
	MAX_CHECKS = 16,
};

enum msg_id
each_id(void **state)
{
	return *(const enum msg_id *)*state;
}

int
each_run(const char *group, const struct check *checks, size_t count, void (*last)(void **state))
{
	static struct CMUnitTest tests[MSG_COUNT * MAX_CHECKS];
	static char names[MSG_COUNT * MAX_CHECKS][96];
	static enum msg_id ids[MSG_COUNT];
	size_t n = 0;

	must(count < MAX_CHECKS);
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		ids[id] = (enum msg_id)id;
		for (size_t c = 0; c < count; c++, n++) {
			snprintf(
			    names[n], sizeof names[n], "%s %s", messages[id].name, checks[c].name);
			tests[n] =
			    (struct CMUnitTest){ names[n], checks[c].run, NULL, NULL, &ids[id] };
		}
	}
	if (last != NULL)
		tests[n++] = (struct CMUnitTest){ "as a whole", last, NULL, NULL, NULL };
	return _cmocka_run_group_tests(group, tests, n, NULL, NULL);
}
