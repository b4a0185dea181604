/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the table of methods, gateway/methods.def, and look-ups in it.
 *
 * The scope of a method is a column without a default, and a method without a row is not served.
 * So no method is reachable whose scope was forgotten.
 */
#pragma once

#include "gateway/mcp/method.h"

/* The method of that name in that revision; revision NULL: before initialize.  NULL: none. */
const struct method *methods_find(const char *name, const struct revision *);
/* The scopes that a request of that method needs with these params; 0 for a method that is not
 * served. */
unsigned methods_scopes(const char *name, const json_t *params);
/* The member of its params that the header Mcp-Name repeats; NULL: none. */
const char *methods_member(const char *name);
/* The name, as a constant, if it is a method or a notification; else NULL. */
const char *methods_constant(const char *name);
/* Whether it calls the tool that its params name. */
bool methods_call_tool(const char *name);
/* Handles a notification of the client; one that is not in the table is ignored. */
void methods_notify(struct client *, const char *name, const json_t *params);

/* The "capabilities" of a server of that revision. */
json_t *methods_capabilities(const struct revision *);
