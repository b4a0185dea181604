/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - counts references to a workspace; trusts its users to release them. */
#include "executor/session/room.h"

#include <stdlib.h>

static void
end(struct workspace *workspace, struct share *share)
{
	workspace_drop(workspace);
	share_drop(share);
}

struct room *
room_new(struct workspace *workspace, struct share *share)
{
	struct room *room = malloc(sizeof *room);

	if (room == NULL)
		end(workspace, share);
	else
		*room = (struct room){ workspace, *share, 1 };
	*share = (struct share){ 0 };
	return room;
}

struct room *
room_get(struct room *room)
{
	room->refs++;
	return room;
}

void
room_put(struct room *room)
{
	if (room == NULL || --room->refs > 0)
		return;
	end(room->workspace, &room->share);
	free(room);
}
