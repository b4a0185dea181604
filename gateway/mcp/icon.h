/* SPDX-License-Identifier: Apache-2.0 */
/* icon.h - small pictures of the server and of its toolsets, for clients that show them. */
#pragma once

#include "gateway/mcp/revision.h"

enum icon { ICON_server, ICON_core, ICON_monitor, ICON_COUNT };

/* Gives the object its "icons" in revisions that have them. */
void icon_add(json_t *object, const struct revision *, enum icon);
/* Of a tool that these toolsets show. */
enum icon icon_of_toolsets(unsigned toolsets);
