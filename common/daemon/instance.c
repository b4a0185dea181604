/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instance.c - containers of a set share one configuration, and differ in their host names.
 *
 * Trusts the host name as far as the operator or the container runtime gave it; endpoint_is_name()
 * checks its characters with those of every other name.
 */
#include "common/daemon/instance.h"

#include "common/base/auto.h"
#include "common/base/hash.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DIGITS = 12,
};

char *
instance_of(const char *host)
{
	char hex[HASH_HEX];

	if (strlen(host) <= INSTANCE_HOST)
		return strdup(host);
	hash_hex(host, strlen(host), hex);
	return strndup(hex, DIGITS);
}

int
instance_settle(char **name, struct err *e)
{
	char host[HOST_NAME_MAX + 1] = "";

	if (strcmp(*name, "%H") != 0)
		return 0;
	if (gethostname(host, sizeof host - 1) < 0)
		return err_sys(e, "host name");

	char *own = instance_of(host);

	if (own == NULL)
		return err_sys(e, "instance");
	free(*name);
	*name = own;
	return 0;
}
