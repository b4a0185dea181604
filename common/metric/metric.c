/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric.c - the cells of metrics, and their text.
 *
 * The cells of a metric are one array: the last label varies fastest.  A histogram has a row of
 * counts, one for each bound, then the count of all and the sum in microseconds. The cell of a
 * gauge is its value plus 1; 0: it was never set.
 */
#include "common/metric/metric.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	MAX_TABLES = 8,
	COUNT_OF_ALL = 16, /* behind the bounds */
	SUM_OF_ALL,
	SECONDS_CELLS,
};

/* Microseconds: from a call that touches no box to a program of ten minutes. */
static const int64_t bounds[COUNT_OF_ALL] = { 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000,
	100000, 250000, 500000, 1000000, 5000000, 30000000, 300000000 };

static struct {
	struct metric *rows;
	size_t count;
} tables[MAX_TABLES];
static size_t ntables;

static const char *
result_text(unsigned value)
{
	return value == 0 ? "ok" : "error";
}

const struct metric_label metric_by_result = { "result", 2, result_text };

/* ---- cells ---- */

static size_t
width(const struct metric *m)
{
	return m->kind == METRIC_SECONDS ? SECONDS_CELLS : 1;
}

static size_t
size(const struct metric *m)
{
	size_t n = 1;

	for (int i = 0; i < METRIC_LABELS && m->labels[i] != NULL; i++)
		n *= m->labels[i]->count;
	return n;
}

static uint64_t *
cell(const struct metric *m, const unsigned at[METRIC_LABELS])
{
	size_t n = 0;

	if (m->cells == NULL)
		return NULL;
	for (int i = 0; i < METRIC_LABELS && m->labels[i] != NULL; i++) {
		if (at[i] >= m->labels[i]->count)
			return NULL;
		n = n * m->labels[i]->count + at[i];
	}
	return m->cells + n * width(m);
}

int
metric_open(struct metric *rows, size_t count, struct err *e)
{
	must(ntables < MAX_TABLES);
	for (struct metric *m = rows; m < rows + count; m++) {
		m->cells = calloc(size(m) * width(m), sizeof *m->cells);
		if (m->cells == NULL)
			return err_sys(e, "metric %s", m->name);
	}
	tables[ntables].rows = rows;
	tables[ntables++].count = count;
	return 0;
}

void
metric_close(void)
{
	for (size_t t = 0; t < ntables; t++)
		for (size_t i = 0; i < tables[t].count; i++)
			free(take_ptr(tables[t].rows[i].cells));
	ntables = 0;
}

void
metric_add(struct metric *m, const unsigned at[METRIC_LABELS], uint64_t n)
{
	uint64_t *to = cell(m, at);

	if (to != NULL)
		*to += n;
}

void
metric_set(struct metric *m, const unsigned at[METRIC_LABELS], uint64_t value)
{
	uint64_t *to = cell(m, at);

	if (to != NULL)
		*to = m->kind == METRIC_GAUGE ? value + 1 : value;
}

void
metric_time(struct metric *m, const unsigned at[METRIC_LABELS], int64_t us)
{
	uint64_t *to = cell(m, at);
	int i = 0;

	if (to == NULL || us < 0)
		return;
	while (i < COUNT_OF_ALL && us > bounds[i])
		i++;
	if (i < COUNT_OF_ALL)
		to[i]++;
	to[COUNT_OF_ALL]++;
	to[SUM_OF_ALL] += (uint64_t)us;
}

/* ---- as text ---- */

static void
write_labels(FILE *to, const struct metric *m, size_t n, const char *le)
{
	unsigned at[METRIC_LABELS] = { 0 };
	const char *before = "{";
	int count = 0;

	while (count < METRIC_LABELS && m->labels[count] != NULL)
		count++;
	for (int i = count - 1; i >= 0; n /= m->labels[i--]->count)
		at[i] = (unsigned)(n % m->labels[i]->count);
	for (int i = 0; i < count; i++, before = ",")
		fprintf(
		    to, "%s%s=\"%s\"", before, m->labels[i]->name, m->labels[i]->text(at[i]) ?: "");
	if (le != NULL)
		fprintf(to, "%sle=\"%s\"", before, le);
	if (count > 0 || le != NULL)
		putc('}', to);
}

static void
write_seconds(FILE *to, const struct metric *m, size_t n, const uint64_t *from)
{
	uint64_t sum = 0;
	char le[32];

	for (int i = 0; i <= COUNT_OF_ALL; i++) {
		sum += i < COUNT_OF_ALL ? from[i] : 0;
		snprintf(le, sizeof le, "%g", i < COUNT_OF_ALL ? (double)bounds[i] / 1e6 : 0);
		fprintf(to, "cloister_%s_bucket", m->name);
		write_labels(to, m, n, i < COUNT_OF_ALL ? le : "+Inf");
		fprintf(to, " %" PRIu64 "\n", i < COUNT_OF_ALL ? sum : from[COUNT_OF_ALL]);
	}
	fprintf(to, "cloister_%s_sum", m->name);
	write_labels(to, m, n, NULL);
	fprintf(to, " %.6f\ncloister_%s_count", (double)from[SUM_OF_ALL] / 1e6, m->name);
	write_labels(to, m, n, NULL);
	fprintf(to, " %" PRIu64 "\n", from[COUNT_OF_ALL]);
}

static void
write_value(FILE *to, const struct metric *m, size_t n, uint64_t value)
{
	fprintf(to, "cloister_%s%s", m->name, m->kind == METRIC_COUNTER ? "_total" : "");
	write_labels(to, m, n, NULL);
	fprintf(to, " %" PRIu64 "\n", value);
}

static void
write_metric(FILE *to, const struct metric *m)
{
	static const char *const kinds[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_SECONDS] = "histogram",
	};

	fprintf(to, "# HELP cloister_%s %s\n# TYPE cloister_%s %s\n", m->name, m->doc, m->name,
	    kinds[m->kind]);
	for (size_t n = 0; n < size(m); n++) {
		const uint64_t *from = m->cells + n * width(m);

		if (m->kind == METRIC_SECONDS && from[COUNT_OF_ALL] > 0)
			write_seconds(to, m, n, from);
		else if (m->kind == METRIC_COUNTER && (m->labels[0] == NULL || from[0] > 0))
			write_value(to, m, n, from[0]);
		else if (m->kind == METRIC_GAUGE && from[0] > 0)
			write_value(to, m, n, from[0] - 1);
	}
}

void
metric_write(FILE *to)
{
	for (size_t t = 0; t < ntables; t++)
		for (size_t i = 0; i < tables[t].count; i++)
			write_metric(to, &tables[t].rows[i]);
}
