/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - the metrics of every daemon (metrics.def). */
#pragma once

#include "common/metric/metric.h"

/* clang-format off */
enum shared_metric {
#define METRIC(id, ...) SHARED_##id,
#include "common/metric/metrics.def"
	SHARED_COUNT
};
/* clang-format on */

extern struct metric shared_rows[SHARED_COUNT];
