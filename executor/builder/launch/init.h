/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - pid 1 of a box. */
#pragma once

/* Reaps orphaned processes until it is killed.  When it is killed, the kernel kills all others
 * of the box.  (A sanitizer would make system calls before a call that it knows never to
 * return.) */
void init_run(void);
