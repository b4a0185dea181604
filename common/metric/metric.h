/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric.h - counters, gauges and histograms of a process, and their text in the form of
 * OpenMetrics.
 *
 * A metric is a row of a table (metrics.def).  Its labels have closed sets of values, so it has a
 * fixed number of cells, and an observation is a plain increment.  A process has one thread that
 * counts; other threads do not call these functions.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { METRIC_LABELS = 3 };

enum metric_kind {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_SECONDS, /* a histogram */
};

struct metric_label {
	const char *name;
	unsigned count;                /* of its values */
	const char *(*text)(unsigned); /* a value; NULL: the value does not occur */
};

struct metric {
	const char *name, *doc;
	enum metric_kind kind;
	const struct metric_label *labels[METRIC_LABELS]; /* NULL: no more */
	uint64_t *cells; /* metric.c's own; NULL before metric_open() */
};

/* For the tables: metrics.def says what they are. */
#define BY0 \
	{ \
		NULL \
	}
#define BY1(a) \
	{ \
		&by_##a \
	}
#define BY2(a, b) \
	{ \
		&by_##a, &by_##b \
	}
#define BY3(a, b, c) \
	{ \
		&by_##a, &by_##b, &by_##c \
	}

/* The values of the labels, in order, for the functions below. */
#define METRIC_AT(...) ((const unsigned[METRIC_LABELS]){ __VA_ARGS__ })

/* Makes the cells of a table, which must live until metric_close().  Before it, and without it, all
 * observations are dropped. */
int metric_open(struct metric *rows, size_t count, struct err *);
void metric_close(void);

/* A value of a label that is out of its range is a fault of the caller and is dropped. */
void metric_add(struct metric *, const unsigned at[METRIC_LABELS], uint64_t n);
void metric_set(struct metric *, const unsigned at[METRIC_LABELS], uint64_t value);
void metric_time(struct metric *, const unsigned at[METRIC_LABELS], int64_t us);

/* Writes all tables that are open, without the line that ends the text: gauges that were set,
 * counters without labels, and cells with labels that are not 0. */
void metric_write(FILE *);

/* The names of two values: "ok" and "error". */
extern const struct metric_label metric_by_result;
