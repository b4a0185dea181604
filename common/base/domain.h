/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - names of hosts in lists: "example.com", "*.example.com", each also with ":port". */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	DOMAIN_NAME = 254,      /* of a name, with a zero byte (RFC 1035) */
	DOMAIN_CANONICAL = 264, /* of an entry of a list: "*.", name, ":65535", and a zero byte */
};

struct domain {
	char name[DOMAIN_NAME]; /* lower case, A-labels, without "*." and a final dot */
	bool wild;              /* all names below it, and not the name itself */
	uint16_t port;          /* 0: ports 80 and 443 */
};

/* An international name is converted into A-labels (IDNA 2008 with UTS 46, nontransitional).
 * invalid_argument: an address literal, or no name of a host. */
int domain_read(const char *text, struct domain *, struct err *);
/* The one form of an entry that a client gave: "Example.com.:443" to "example.com:443".  A person
 * who is asked sees this form, and so no look-alike of another name.  invalid_argument also for a
 * name of one label, and a wildcard directly below a top-level domain. */
int domain_check(const char *text, char canonical[DOMAIN_CANONICAL], struct err *);
/* Converts to lower case; false: not an ASCII name of a host. */
bool domain_is_name(char *name);
/* Does *outer permit all that *inner permits? */
bool domain_covers(const struct domain *outer, const struct domain *inner);
/* Does an entry of the list permit this name at this port?  port 0: at any.  Entries that cannot
 * be read permit nothing. */
bool domain_permits(const struct texts *list, const char *name, uint16_t port);
