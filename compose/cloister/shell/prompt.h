/* SPDX-License-Identifier: Apache-2.0 */
/* prompt.h - lines of a person: edited, remembered and completed on a terminal, else just read. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>

struct prompt;

enum prompt_end {
	PROMPT_LINE,
	PROMPT_INTERRUPTED, /* Ctrl-C: the line is dropped */
	PROMPT_END,
};

/* state: the directory in which the history is kept; -1: nowhere.  names: what Tab completes, which
 * the caller may change.  NULL with *e. */
struct prompt *prompt_open(int state, const struct texts *names, struct err *);
/* *line: with its line feed, valid until the next call.  text: what is shown before it. */
enum prompt_end prompt_read(struct prompt *, const char *text, const char **line);
/* Was Ctrl-C pressed since the last line, or the last call? */
bool prompt_was_interrupted(void);
/* Remembers a statement. */
void prompt_remember(struct prompt *, const char *statement);
/* NULL is allowed. */
void prompt_close(struct prompt *);
