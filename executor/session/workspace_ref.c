/* SPDX-License-Identifier: Apache-2.0 */
/* workspace_ref.c - counts references to a workspace; trusts its users to release them. */
#include "executor/session/workspace_ref.h"

#include "executor/sandbox/workspace.h"

#include <stdlib.h>

static void
end(struct workspace *workspace, struct share *share)
{
	workspace_drop(workspace);
	share_drop(share);
}

struct workspace_ref *
workspace_ref_new(struct workspace *workspace, struct share *share)
{
	struct workspace_ref *room = malloc(sizeof *room);

	if (room == NULL)
		end(workspace, share);
	else
		*room = (struct workspace_ref){ workspace, *share, 1 };
	*share = (struct share){ 0 };
	return room;
}

struct workspace_ref *
workspace_ref_get(struct workspace_ref *room)
{
	room->refs++;
	return room;
}

void
workspace_ref_put(struct workspace_ref *room)
{
	if (room == NULL || --room->refs > 0)
		return;
	end(room->workspace, &room->share);
	free(room);
}
