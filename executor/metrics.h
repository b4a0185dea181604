/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - the metrics of the executor (metrics.def). */
#pragma once

#include "executor/builder/order.h"

#include "common/metric/metric.h"
#include "common/table/schema.h"

/* clang-format off */
enum metrics_id {
#define METRIC(id, ...) METRICS_##id,
#include "executor/metrics.def"
	METRICS_COUNT
};
/* clang-format on */

/* Where the box of a run came from. */
enum metrics_start {
	METRICS_START_made, /* on demand */
	METRICS_START_pool,
	METRICS_START_session,
	METRICS_START_COUNT
};

extern struct metric metrics_rows[METRICS_COUNT];

/* Counts the steps of a box or program that started or failed to. */
void metrics_note_answer(const struct answer *);
/* Counts the end of a run; at: language, event of its end, enum metrics_start. */
void metrics_note_run(const struct execution *, const unsigned at[METRIC_LABELS], int64_t us);
