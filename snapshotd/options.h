/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - snapshotd's settings: options.def as a struct and as the table that fills it. */
#pragma once

#include "common/base/work.h"

#define OPTIONS "snapshotd/options.def"
#include "common/table/options.h"
