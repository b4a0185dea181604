/* SPDX-License-Identifier: Apache-2.0 */
/* man.h - manual pages in mdoc(7), printed from the tables of settings and commands. */
#pragma once

#include "common/table/setting.h"

/* cloister-<daemon>(8): the daemon's own settings and the common ones (may be NULL). */
void man_daemon(const char *daemon, const char *summary, const struct setting *common,
    const struct setting *own);

/* The parts of a page. Text is escaped and cannot contain macros. */
void man_begin(const char *name, const char *section, const char *summary);
void man_heading(const char *title);
void man_text(const char *text);
/* One item of a list: man_list() opens it, man_list_end() closes it. */
void man_list(void);
void man_item(const char *tag);
void man_list_end(void);
