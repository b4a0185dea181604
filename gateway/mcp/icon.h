/* SPDX-License-Identifier: Apache-2.0 */
/* icon.h - icons of the server and of its toolsets, for clients that show them. */
#pragma once

#include "gateway/mcp/revision.h"

enum icon { ICON_server, ICON_core, ICON_monitor, ICON_COUNT };

/* Adds "icons" to the object in revisions that have them. */
void icon_add(json_t *object, const struct revision *, enum icon);
/* The icon of a tool that belongs to these toolsets. */
enum icon icon_of_toolsets(unsigned toolsets);
