/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failed.h - why a daemon does not run: one line in the file NAME.failed in the run directory. The
 * bus appends it to its error "no NAME is connected".
 */
#pragma once

enum { FAILED_TEXT = 256 };

/* A failure to write or remove the file is only logged. */
void failed_tell(const char *name, const char *why);
void failed_forget(const char *name);
