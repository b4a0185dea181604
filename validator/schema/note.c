/* SPDX-License-Identifier: Apache-2.0 */
/* note.c - collects what a schema says without effect; trusts no name. */
#include "validator/schema/note.h"

#include "validator/schema/format.h"

#include <string.h>

static void
add(struct note *note, const struct note *found)
{
	size_t count = note->count;

	if (count == 0)
		*note = *found;
	note->count = count + 1;
}

void
note_keyword(struct note notes[NOTE_COUNT], const struct node *node, const char *name)
{
	enum draft draft = node->resource->draft;
	const struct keyword_row *row = keyword_elsewhere(draft, name, strlen(name));
	const char *meant = row == NULL ? keyword_near(draft, name) : NULL;

	if (row != NULL)
		add(&notes[NOTE_DRAFT], &(struct note){ .in = node,
					    .name = name,
					    .known = row->first > draft ? row->first : row->last });
	else if (meant != NULL)
		add(&notes[NOTE_KEYWORD],
		    &(struct note){ .in = node, .name = name, .meant = meant });
}

void
note_format(struct note notes[NOTE_COUNT], const struct node *node, const char *name)
{
	add(&notes[NOTE_FORMAT],
	    &(struct note){
		.in = node, .name = name, .meant = format_near(node->resource->draft, name) });
}
