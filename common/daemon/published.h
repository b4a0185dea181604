/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published.h - the version and the settings with which this daemon runs, as NAME.settings in the
 * run directory: for a client of the same user that has another one, or was started with other
 * ones.
 */
#pragma once

/* The first line. */
#define PUBLISHED         "version: "
#define PUBLISHED_VERSION PUBLISHED CLOISTER_VERSION "\n"

/* Keeps a copy of the settings as they were read; later, values are derived from them. */
void published_note(void);
/* Writes it; before the jail.  A failure is logged: only the comparison is lost. */
void published_write(const char *run, const char *name);
