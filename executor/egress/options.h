/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - egress's settings; see options.def. */
#pragma once

#define OPTIONS "executor/egress/options.def"
#include "common/table/options.h"
