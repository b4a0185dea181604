/* SPDX-License-Identifier: Apache-2.0 */
/* note.h - collects what a schema says without effect, which its author should know. */
#pragma once

#include "validator/schema/node.h"

/* For a member of the node's schema that its draft does not know. */
void note_keyword(struct note notes[NOTE_COUNT], const struct node *, const char *name);
/* For a format that no draft knows. */
void note_format(struct note notes[NOTE_COUNT], const struct node *, const char *name);
