/* SPDX-License-Identifier: Apache-2.0 */
/* symptom.h - why a program failed, by what it says itself (outcome.c). */
#pragma once

#include "executor/sandbox/box.h"

/* What only stderr tells of an error in the code, as bash's, is told as by a driver. */
int symptom_read(struct box_end *, struct err *);
/* Which limit it ran into, syntax_error, or program_failed where that does not tell. */
enum err_code symptom_code(const struct box_end *);
/* Where there is no space left, was that why?  No: an exception names another reason. */
bool symptom_may_be_space(const struct box_end *);
bool symptom_too_many_files(const struct box_end *);
/* What it may not have known of a box; NULL: nothing that is known here. */
const char *symptom_hint(const struct box_end *, bool in_session);
