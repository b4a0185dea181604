/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - pid 1 of a box. */
#pragma once

struct init {
	const char *const *argv; /* argv[0] is the path */
	const char *const *environment;
	int report; /* where struct cage_report is written to */
};

/* Starts the program, reaps whatever is left to it, tells how the program ended, and ends; with it
 * the kernel ends all others of the box. */
void init_run(const struct init *) __attribute__((noreturn));
