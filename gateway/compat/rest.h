/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest.h - the REST API of sandboxmcp beside /mcp, with the setting rest.
 *
 * A request becomes a message of 2026-07-28 and takes the way of a POST to /mcp: credentials,
 * scopes, rates and bounds are the same.  The token may also be in the header X-API-Key.
 */
#pragma once

#include "gateway/transport/http/request.h"

#include <stdio.h>

enum {
	REST_ROUTES = 64, /* room for all of them */
};

/* Fails if the settings do not allow serving it. */
int rest_open(struct err *);
/* Writes its routes, with those of OPTIONS, and returns their number; 0: it is not served. */
size_t rest_routes(struct http_route to[REST_ROUTES]);
/* Prints the table of routes as Markdown. */
void rest_describe(FILE *);
