/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - pid 1 of a box. */
#pragma once

/* Buries what is left to it until it is killed; with it the kernel ends all others of the box.  (A
 * sanitizer would make system calls before a call that it knows never to return.) */
void init_run(void);
