/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - names of hosts in lists: "example.com", "*.example.com", each also with ":port". */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DOMAIN_NAME = 254, /* of a name, with a zero byte */
};

struct domain {
	char name[DOMAIN_NAME]; /* lower case, without "*." */
	bool wild;              /* all names below it, and not the name itself */
	uint16_t port;          /* 0: ports 80 and 443 */
};

/* Refuses address literals, and names that are not ASCII; IDNA names are given as xn--... */
int domain_read(const char *text, struct domain *, struct err *);
/* Lower case; false: not a name of a host. */
bool domain_is_name(char *name);
/* Does *outer permit all that *inner permits? */
bool domain_covers(const struct domain *outer, const struct domain *inner);
/* Does an entry of the list permit this name at this port?  port 0: at any.  Entries that cannot
 * be read permit nothing. */
bool domain_permits(const struct texts *list, const char *name, uint16_t port);
