/* SPDX-License-Identifier: Apache-2.0 */
/* instance.h - the name of this instance, from the host name where the setting says so. */
#pragma once

#include "common/base/err.h"

enum {
	INSTANCE_HOST = 26, /* bytes of a name in an id of a session */
};

/* Replaces "%H" by the host name, or by 12 hexadecimal digits of its SHA-256 if it has more than
 * INSTANCE_HOST bytes.  Another name is left as it is. */
int instance_settle(char **name, struct err *);
/* The same for this host name; NULL: no memory. */
char *instance_of(const char *host);
