/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed.h - why a daemon is not there, for those who want something of it: NAME.failed in the run
 * directory, one line.  The bus puts it behind "no NAME is there".
 */
#pragma once

enum { FAILED_TEXT = 200 };

/* One that cannot be written or removed is only logged. */
void failed_tell(const char *name, const char *why);
void failed_forget(const char *name);
