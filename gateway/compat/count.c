/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - counts and recent times of calls, a row for each tool. */
#include "gateway/compat/count.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	TOOLS = 32, /* more than any system offers */
	TIMES = 256,
};

static struct row {
	const char *tool;
	uint64_t calls, errors;
	double ms[TIMES];
} rows[TOOLS];

void
count_call(const char *tool, bool failed, double ms)
{
	struct row *row = rows;

	while (row < rows + TOOLS - 1 && row->tool != NULL && row->tool != tool)
		row++;
	row->tool = tool;
	row->ms[row->calls++ % TIMES] = ms;
	row->errors += failed;
}

static struct {
	json_int_t peak_bytes;
	double cpu_ms;
} programs;

void
count_usage(const json_t *usage)
{
	json_int_t peak = json_integer_value(json_object_get(usage, "max_memory_bytes"));

	if (peak > programs.peak_bytes)
		programs.peak_bytes = peak;
	programs.cpu_ms += json_number_value(json_object_get(usage, "cpu_ms"));
}

json_t *
count_memory(void)
{
	return json_pack("{s:I}", "peak_bytes", programs.peak_bytes);
}

json_t *
count_cpu(void)
{
	return json_pack("{s:f}", "seconds", programs.cpu_ms / 1000);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static json_t *
tell(const struct row *row)
{
	size_t n = row->calls < TIMES ? (size_t)row->calls : TIMES;
	double sorted[TIMES];

	memcpy(sorted, row->ms, sizeof sorted);
	qsort(sorted, n, sizeof *sorted, compare);
	return json_pack("{s:I, s:I, s:f, s:f}", "calls", (json_int_t)row->calls, "errors",
	    (json_int_t)row->errors, "p50_ms", sorted[(n - 1) / 2], "p99_ms",
	    sorted[(n * 99 + 99) / 100 - 1]);
}

json_t *
count_tools(void)
{
	json_t *tools = json_object();

	for (const struct row *row = rows; row < rows + TOOLS && row->tool != NULL; row++)
		json_object_set_new(tools, row->tool, tell(row));
	return tools;
}
