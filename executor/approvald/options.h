/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - approvald's settings: options.def as a struct and as the table that fills it. */
#pragma once

#define OPTIONS "executor/approvald/options.def"
#include "common/table/options.h"
