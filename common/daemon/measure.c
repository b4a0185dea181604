/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - gauges of the bus, the spool and the process; they are set when somebody reads them.
 */
#include "common/daemon/measure.h"

#include "common/base/auto.h"
#include "common/journal/spool.h"
#include "common/metric/shared.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>

static const struct daemon *self;
static uint64_t began;

int
measure_open(const struct daemon *d, struct err *e)
{
	self = d;
	began = (uint64_t)time(NULL);
	if (metric_open(shared_rows, SHARED_COUNT, e) < 0)
		return -1;
	return d->metrics == NULL ? 0 : metric_open(d->metrics, d->nmetrics, e);
}

static void
measure_peers(void)
{
	for (enum peer to = PEER_FIRST; to < PEER_COUNT; to++) {
		metric_set(&shared_rows[SHARED_peer_lost], METRIC_AT(to), bus_counts()->lost[to]);
		if (edge_find(self->self, to) != NULL)
			metric_set(
			    &shared_rows[SHARED_peer_ready], METRIC_AT(to), bus_ready(to, NULL));
	}
}

void
measure_all(void)
{
	const struct mallinfo2 heap = mallinfo2();
	const struct heartbeat load = bus_load();
	const struct {
		enum shared_metric metric;
		uint64_t value;
	} values[] = {
		{ SHARED_work_running, load.running },
		{ SHARED_work_waiting, load.queued },
		{ SHARED_work_room, load.room },
		{ SHARED_bus_refused, bus_counts()->refused },
		{ SHARED_bus_malformed, bus_counts()->malformed },
		{ SHARED_audit_lag_events, spool_waiting() },
		{ SHARED_process_cpu_seconds, (uint64_t)(clock() / CLOCKS_PER_SEC) },
		{ SHARED_process_heap_bytes, heap.uordblks + heap.hblkhd },
		{ SHARED_process_start_seconds, began },
	};

	for (size_t i = 0; i < COUNT(values); i++)
		metric_set(&shared_rows[values[i].metric], METRIC_AT(0), values[i].value);
	measure_peers();
	if (self->measure != NULL)
		self->measure();
}

const char *
measure_fault(void)
{
	return self->fault != NULL ? self->fault() : NULL;
}

void
measure_status(char text[MEASURE_STATUS])
{
	const struct heartbeat load = bus_load();
	const char *fault = measure_fault();

	if (fault != NULL)
		snprintf(text, MEASURE_STATUS, "fault: %s", fault);
	else
		snprintf(text, MEASURE_STATUS, "%u running, %u queued, room for %u",
		    (unsigned)load.running, (unsigned)load.queued, (unsigned)load.room);
}

const char *
measure_missing(void)
{
	const char *lacks = NULL;

	for (enum peer to = PEER_FIRST; to < PEER_COUNT && lacks == NULL; to++)
		if (edge_find(self->self, to) != NULL)
			lacks = bus_lacks(to);
	return lacks;
}
