/* SPDX-License-Identifier: Apache-2.0 */
/* schema_tools.h - handlers for registered JSON Schemas, which snapshotd stores. */
#pragma once

#include "common/bus/bus.h"

int schema_tools_on_register_schema(struct call *, void *request, struct err *);
int schema_tools_on_list_schemas(struct call *, void *request, struct err *);
int schema_tools_on_get_schema(struct call *, void *request, struct err *);
int schema_tools_on_remove_schema(struct call *, void *request, struct err *);
