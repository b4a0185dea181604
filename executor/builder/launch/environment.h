/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - environment.def for one box. */
#pragma once

#include <stdint.h>

/* As execve() takes it; static, for a process that is about to become a program.  cpu_milli: what
 * the program may use of processors, in thousandths; 0: of one. */
const char *const *environment_make(uint64_t cpu_milli);
