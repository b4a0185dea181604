/* SPDX-License-Identifier: Apache-2.0 */
/* test_metric.c - the cells of a table, and their text. */
#include "common/base/auto.h"
#include "common/metric/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *
colour(unsigned value)
{
	return value == 0 ? "red" : "blue";
}

static const struct metric_label by_colour = { "colour", 2, colour };
static struct metric rows[] = {
	{ "paints", "Paints.", METRIC_COUNTER, { &by_colour, &metric_by_result }, NULL },
	{ "plain", "Plain.", METRIC_COUNTER, { NULL }, NULL },
	{ "level", "Level.", METRIC_GAUGE, { &by_colour }, NULL },
	{ "dry_seconds", "Time.", METRIC_SECONDS, { &by_colour }, NULL },
};

static char *
text(void)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	metric_write(to);
	fclose(to);
	return text;
}

static void
has(const char *line)
{
	auto_free char *all = text();

	if (strstr(all, line) == NULL)
		fail_msg("no %s in\n%s", line, all);
}

static void
lacks(const char *line)
{
	auto_free char *all = text();

	if (strstr(all, line) != NULL)
		fail_msg("%s in\n%s", line, all);
}

static int
setup(void **state)
{
	struct err e;

	(void)state;
	return metric_open(rows, COUNT(rows), &e);
}

static int
teardown(void **state)
{
	(void)state;
	metric_close();
	return 0;
}

static void
cells_are_apart(void **state)
{
	(void)state;
	metric_add(&rows[0], METRIC_AT(0, 1), 2);
	metric_add(&rows[0], METRIC_AT(1, 0), 3);
	metric_add(&rows[0], METRIC_AT(1, 0), 4);
	has("# TYPE cloister_paints counter\n");
	has("\ncloister_paints_total{colour=\"red\",result=\"error\"} 2\n");
	has("\ncloister_paints_total{colour=\"blue\",result=\"ok\"} 7\n");
	lacks("colour=\"blue\",result=\"error\"");
	has("\ncloister_plain_total 0\n");
}

static void
a_gauge_is_written_once_it_was_set(void **state)
{
	(void)state;
	lacks("\ncloister_level{");
	metric_set(&rows[2], METRIC_AT(1), 0);
	has("\ncloister_level{colour=\"blue\"} 0\n");
	lacks("cloister_level{colour=\"red\"}");
}

static void
times_are_in_buckets(void **state)
{
	(void)state;
	metric_time(&rows[3], METRIC_AT(1), 100);
	metric_time(&rows[3], METRIC_AT(1), 101);
	metric_time(&rows[3], METRIC_AT(1), 400000000);
	metric_time(&rows[3], METRIC_AT(1), -1);
	has("cloister_dry_seconds_bucket{colour=\"blue\",le=\"0.0001\"} 1\n");
	has("cloister_dry_seconds_bucket{colour=\"blue\",le=\"0.00025\"} 2\n");
	has("cloister_dry_seconds_bucket{colour=\"blue\",le=\"300\"} 2\n");
	has("cloister_dry_seconds_bucket{colour=\"blue\",le=\"+Inf\"} 3\n");
	has("cloister_dry_seconds_sum{colour=\"blue\"} 400.000201\n");
	has("cloister_dry_seconds_count{colour=\"blue\"} 3\n");
	lacks("colour=\"red\"");
}

static void
a_value_out_of_range_is_dropped(void **state)
{
	(void)state;
	metric_add(&rows[0], METRIC_AT(2, 0), 1);
	metric_add(&rows[0], METRIC_AT(0, 2), 1);
	metric_time(&rows[3], METRIC_AT(7), 1);
	lacks("cloister_paints_total{");
	lacks("cloister_dry_seconds_count{");
	metric_close();
	metric_add(&rows[0], METRIC_AT(0, 0), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cells_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_gauge_is_written_once_it_was_set, setup, teardown),
		cmocka_unit_test_setup_teardown(times_are_in_buckets, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_out_of_range_is_dropped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
