/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - auditd's settings; see options.def. */
#pragma once

#define OPTIONS "auditd/options.def"
#include "common/table/options.h"
