/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - reads and compares names of hosts.  Trusts nothing: the texts come from clients. */
#include "common/base/domain.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	LABEL = 63,
};

static bool
is_label(const char *label, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)label[i]) && label[i] != '-' && label[i] != '_')
			return false;
	return size > 0 && size <= LABEL && label[0] != '-' && label[size - 1] != '-';
}

/* The last label of an address literal is a number; one of a name never is. */
static bool
is_number(const char *label)
{
	return label[strspn(label, "0123456789")] == '\0' || strncmp(label, "0x", 2) == 0;
}

bool
domain_is_name(char *name)
{
	const char *label = name;

	if (strlen(name) >= DOMAIN_NAME)
		return false;
	for (char *c = name; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	for (;;) {
		size_t size = strcspn(label, ".");

		if (!is_label(label, size))
			return false;
		if (label[size] == '\0')
			return !is_number(label);
		label += size + 1;
	}
}

static int
read_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end != '\0' || value < 1 || value > UINT16_MAX)
		return -1;
	*port = (uint16_t)value;
	return 0;
}

int
domain_read(const char *text, struct domain *domain, struct err *e)
{
	const char *name = text, *colon = strchr(text, ':');
	size_t size;

	*domain = (struct domain){ .wild = strncmp(text, "*.", 2) == 0 };
	name += domain->wild ? 2 : 0;
	size = colon != NULL ? (size_t)(colon - name) : strlen(name);
	if (size < DOMAIN_NAME)
		memcpy(domain->name, name, size);
	if (size >= DOMAIN_NAME || !domain_is_name(domain->name) ||
	    (colon != NULL && read_port(colon + 1, &domain->port) < 0))
		return err_set(e, ERR_invalid_argument,
		    "%.64s: is not a name of a host as in example.com, *.example.com or "
		    "example.com:8443",
		    text);
	return 0;
}

static bool
covers_port(const struct domain *outer, const struct domain *inner)
{
	return outer->port == inner->port ||
	       (outer->port == 0 && (inner->port == 80 || inner->port == 443));
}

static bool
is_below(const char *name, const char *above)
{
	size_t size = strlen(name), tail = strlen(above);

	return size > tail + 1 && name[size - tail - 1] == '.' &&
	       strcmp(name + size - tail, above) == 0;
}

static bool
covers_name(const struct domain *outer, const struct domain *inner)
{
	if (!outer->wild)
		return !inner->wild && strcmp(outer->name, inner->name) == 0;
	return is_below(inner->name, outer->name) ||
	       (inner->wild && strcmp(outer->name, inner->name) == 0);
}

bool
domain_covers(const struct domain *outer, const struct domain *inner)
{
	return covers_name(outer, inner) && covers_port(outer, inner);
}

bool
domain_permits(const struct texts *list, const char *name, uint16_t port)
{
	struct domain entry, asked = { .port = port };
	struct err ignored;

	if (strlen(name) >= sizeof asked.name)
		return false;
	memcpy(asked.name, name, strlen(name) + 1);
	for (size_t i = 0; i < list->count; i++)
		if (domain_read(list->items[i], &entry, &ignored) == 0 &&
		    covers_name(&entry, &asked) && (port == 0 || covers_port(&entry, &asked)))
			return true;
	return false;
}
