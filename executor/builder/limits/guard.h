/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - samples the boxes in which code runs, and kills those that exceed a limit. */
#pragma once

#include "executor/builder/box.h"

/* Call when code starts to run in a box.  It may use cpu_ms more of processor time (0:
 * unlimited).  Such boxes are sampled from now on. */
void guard_begin(const struct host *, struct box *, uint64_t cpu_ms);
