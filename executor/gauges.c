/* SPDX-License-Identifier: Apache-2.0 */
/* gauges.c - reads pool, queue and sessions.  Apart from metrics.c, into which these count. */
#include "executor/gauges.h"

#include "executor/metrics.h"
#include "executor/run/pool.h"
#include "executor/run/queue.h"
#include "executor/session/session.h"

#include "common/base/auto.h"

void
gauges_measure(void)
{
	const struct {
		enum metrics_id metric;
		unsigned at;
		uint64_t value;
	} values[] = {
		{ METRICS_pool_boxes, 0, pool_counts()->waiting },
		{ METRICS_pool_boxes, 1, pool_counts()->making },
		{ METRICS_pool_takes, 0, pool_counts()->taken },
		{ METRICS_pool_takes, 1, pool_counts()->missed },
		{ METRICS_sessions, 0, session_count() },
		{ METRICS_runs_done, 0, queue_counts()->completed },
	};

	for (size_t i = 0; i < COUNT(values); i++)
		metric_set(
		    &metrics_rows[values[i].metric], METRIC_AT(values[i].at), values[i].value);
}
