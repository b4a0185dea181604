/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - secretd's settings; see options.def. */
#pragma once

#define OPTIONS "executor/secretd/options.def"
#include "common/table/options.h"
