/* SPDX-License-Identifier: Apache-2.0 */
/* must.h - assertions about the program itself; also checked in release builds. */
#pragma once

/* Ends the process with a message. Never used on external data. Defined in err.c. */
void err_must(const char *condition, const char *file, int line) __attribute__((noreturn));
#define must(condition) ((condition) ? (void)0 : err_must(#condition, __FILE__, __LINE__))
