/* SPDX-License-Identifier: Apache-2.0 */
/* must.h - conditions that hold unless the program itself is wrong; checked in release builds, too.
 */
#pragma once

/* Ends the process with a message.  Never used on data from outside.  Defined in err.c. */
void err_must(const char *condition, const char *file, int line) __attribute__((noreturn));
#define must(condition) ((condition) ? (void)0 : err_must(#condition, __FILE__, __LINE__))
