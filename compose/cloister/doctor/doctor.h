/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - `cloister doctor`: what this machine has, and what it lacks. */
#pragma once

/* Changes nothing and starts no daemon.  0: all is ok or weaker; 1: programs need what is missing.
 */
int doctor_run(int argc, char **argv);
