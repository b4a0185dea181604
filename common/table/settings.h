/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - settings from one table per daemon. Sources: default, YAML file, environment, flags;
 * the later wins.
 *
 * YAML: one mapping per daemon ("executor:\n  max_concurrent: 4"); environment:
 * CLOISTER_EXECUTOR_MAX_CONCURRENT and the names in `also`; flags: --max-concurrent=4 or
 * --max-concurrent 4 (FLAG: also --x, --no-x).
 */
#pragma once

#include "common/base/err.h"
#include "common/table/setting.h"

/*
 * Reads all sources into the rows of both tables (NULL-name ended; common may be NULL). Prints and
 * exits 0 for --help, --print-settings, --print-given (what no default gave), --man and
 * --version; exits 2 and names an unknown or
 * out-of-range setting and the allowed range. Texts come from malloc and live as long as the
 * process.
 */
void settings_load(const char *daemon, const char *summary, const struct setting *common,
    const struct setting *own, int argc, char **argv);
/* What --print-settings prints, of the last settings that were read; from malloc, NULL without
 * memory.  The values are those of now. */
char *settings_text(void);
/* Has a file, the environment or a flag set it, when the settings were last read? */
bool settings_given(const char *name);
/* The same without exits, for tests: -1 with *e. */
int settings_read(const char *daemon, const struct setting *common, const struct setting *own,
    int argc, char **argv, struct err *);

/*
 * The settings that every program of cloister has: the first rows of a table. run and state default
 * to the directories of this user.
 */
enum { SETTINGS_SHARED = 4 };
void settings_shared(struct setting rows[SETTINGS_SHARED], char **run, char **state, char **config,
    char **log_level);
