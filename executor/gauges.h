/* SPDX-License-Identifier: Apache-2.0 */
/* gauges.h - what the executor has at the moment: boxes, sessions. */
#pragma once

/* Sets the gauges of metrics.def, before the metrics are published. */
void gauges_measure(void);
