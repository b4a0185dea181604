/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - sets the gauges that every daemon has (common/metric/metrics.def). */
#pragma once

#include "common/daemon/description.h"

/* Makes the cells of all metrics of this daemon. */
int measure_open(const struct daemon *, struct err *);
/* Sets all gauges, the daemon's own too. */
void measure_all(void);
/* Why this process must be started again (struct daemon); NULL: it need not. */
const char *measure_fault(void);
/* Its load, or "fault: " and the reason, for `STATUS=`. */
enum { MEASURE_STATUS = 300 };
void measure_status(char text[MEASURE_STATUS]);
/* Which server of this daemon is not connected; NULL: all are. */
const char *measure_missing(void);
