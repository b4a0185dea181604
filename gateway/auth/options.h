/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the settings of authentication; rows of the gateway's table, the operator's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct auth_options {
	char *credentials;     /* the folder; "": <state>/credentials */
	char *issuer;          /* "": no OAuth */
	char *resource;        /* this server's URL, as clients know it */
	char *namespace_claim; /* "": none */
	uint64_t leeway_s;
	bool anonymous;
};

extern struct auth_options auth_options;
