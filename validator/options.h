/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the validator's settings; see options.def. */
#pragma once

#define OPTIONS "validator/options.def"
#include "common/table/options.h"
