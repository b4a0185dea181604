/* SPDX-License-Identifier: Apache-2.0 */
/* unfinished.h - does a statement go on in the next line? */
#pragma once

#include "common/table/schema.h"

#include <stdbool.h>

/*
 * Each line of the text ends with a line feed.  By quotes, brackets and the words that open a
 * block; it reads the text only as far as that.  What it does not know counts as finished, and the
 * language says what is wrong.  language: enum language.
 */
bool unfinished(int language, const char *text);
