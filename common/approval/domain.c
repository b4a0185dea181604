/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - reads a domain name strictly; trusts nothing, a model wrote it. */
#include "common/approval/domain.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
refuse(const char *text, const char *why, struct err *e)
{
	return err_set(e, ERR_invalid_argument, "domain: '%.80s' %s", text, why);
}

static bool
is_label(const char *label, size_t size)
{
	static const char known[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

	return size > 0 && size <= DOMAIN_LABEL && strspn(label, known) >= size &&
	       label[0] != '-' && label[size - 1] != '-';
}

/* inet_aton(3) reads "1", "0x7f" and "1.2" as addresses, so the last label must not look like a
 * number (URL Standard, "ends in a number"). */
static bool
is_number(const char *label)
{
	return label[strspn(label, "0123456789")] == '\0' ||
	       (label[0] == '0' && label[1] == 'x' &&
		   label[2 + strspn(label + 2, "0123456789abcdef")] == '\0');
}

static int
check_name(const char *text, const char *name, struct err *e)
{
	size_t labels = 0, size;
	const char *at = name, *last = name;

	if (strlen(name) > DOMAIN_NAME)
		return refuse(text, "is over 253 bytes", e);
	for (;; at += size + 1) {
		size = strcspn(at, ".");
		if (!is_label(at, size))
			return refuse(text,
			    "is not a domain name; write it in ASCII, such as example.com or "
			    "xn--...",
			    e);
		labels++;
		last = at;
		if (at[size] == '\0')
			break;
	}
	if (is_number(last))
		return refuse(text, "is an address; name a domain", e);
	return labels < 2 ? refuse(text, "has only one label; name a domain such as example.com", e)
	                  : 0;
}

/* Cuts ":443" off the name; *port is 0 without one. */
static int
take_port(char *name, const char *text, unsigned long *port, struct err *e)
{
	char *colon = strchr(name, ':');
	size_t digits = colon == NULL ? 0 : strspn(colon + 1, "0123456789");

	*port = 0;
	if (colon == NULL)
		return 0;
	*port = digits > 0 && digits <= 5 ? strtoul(colon + 1, NULL, 10) : 0;
	if (colon[1 + digits] != '\0' || *port == 0 || *port > 65535)
		return refuse(text, "has no valid port, or is an address; write domain:port", e);
	*colon = '\0';
	return 0;
}

int
domain_check(const char *text, char *canonical, struct err *e)
{
	char name[DOMAIN_NAME + 16], text_port[24];
	size_t size = strlen(text);
	unsigned long port;

	if (size >= sizeof name)
		return refuse(text, "is over 253 bytes", e);
	for (size_t i = 0; i <= size; i++)
		name[i] =
		    (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
	if (take_port(name, text, &port, e) < 0)
		return -1;
	size = strlen(name);
	if (size > 1 && name[size - 1] == '.')
		name[size - 1] = '\0';
	if (check_name(text, strncmp(name, "*.", 2) == 0 ? name + 2 : name, e) < 0)
		return -1;
	snprintf(text_port, sizeof text_port, ":%lu", port);
	snprintf(canonical, DOMAIN_CANONICAL, "%s%s", name, port == 0 ? "" : text_port);
	return 0;
}
