/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - the environment of environment.def for one box. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Do boxes have the file TRUST_ADDED of trust.h?  At first they have not. */
void environment_trust(bool has_added);
/* Returns the environment for execve().  It is static, for a process that is about to become a
 * program. cpu_milli: the processor time that the program may use, in thousandths of a
 * processor; 0: one processor.  python: its directory is the first of PATH, if it is not below
 * /usr; NULL: PATH is as always.  own: a pair of this program alone, or NULL. */
const char *const *environment_make(uint64_t cpu_milli, const char *python, const char *own);
