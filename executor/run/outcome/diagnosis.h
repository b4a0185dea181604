/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - diagnosis of a failed program from its own exception or stderr (outcome.c). */
#pragma once

#include "executor/sandbox/box.h"

/* Fills in the error's type, text and line from stderr, for languages whose driver reports none
 * (bash). */
int diagnosis_read(struct box_end *, struct err *);
/* The limit that the program ran into, syntax_error, or program_failed if neither is known. */
enum err_code diagnosis_code(const struct box_end *);
/* If no space is left: may that be the reason?  false: an exception names another. */
bool diagnosis_may_be_space(const struct box_end *);
bool diagnosis_too_many_files(const struct box_end *);
/* A hint for the author of the program about the box, allocated with malloc; NULL: none fits. */
char *diagnosis_hint(const struct box_end *, bool in_session);
