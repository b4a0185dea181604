/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - calls on registered JSON Schemas: register, list, get, remove. */
#pragma once

#include "common/bus/bus.h"

int schema_on_register(struct call *, void *request, struct err *);
int schema_on_list(struct call *, void *request, struct err *);
int schema_on_get(struct call *, void *request, struct err *);
int schema_on_remove(struct call *, void *request, struct err *);
