/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - reads and compares names of hosts.  Trusts nothing: the texts come from clients. */
#include "common/base/domain.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <idn2.h>
#include <stdio.h>
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

/* inet_aton(3) reads "1", "0x7f" and "1.2" as addresses, so the last label must not look like a
 * number (URL Standard, "ends in a number"). */
static bool
is_number(const char *label)
{
	return label[strspn(label, "0123456789")] == '\0' ||
	       (strncmp(label, "0x", 2) == 0 &&
		   label[2 + strspn(label + 2, "0123456789abcdef")] == '\0');
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

static bool
is_ascii(const char *text)
{
	while (*text != '\0' && (unsigned char)*text < 0x80)
		text++;
	return *text == '\0';
}

/* The conversion maps other forms of letters, digits and dots first, so what it returns is checked
 * as if it had been given. */
static bool
to_ascii(const char *name, char to[DOMAIN_NAME])
{
	uint8_t *ascii = NULL;
	int r =
	    idn2_lookup_u8((const uint8_t *)name, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	bool fits = r == IDN2_OK && strlen((const char *)ascii) < DOMAIN_NAME;

	if (fits)
		snprintf(to, DOMAIN_NAME, "%s", (const char *)ascii);
	idn2_free(ascii);
	return fits;
}

static bool
read_name(const char *text, char name[DOMAIN_NAME])
{
	size_t size = strlen(text);

	if (is_ascii(text)) {
		if (size >= DOMAIN_NAME + 1)
			return false;
		size -= size > 1 && text[size - 1] == '.' ? 1 : 0;
		if (size >= DOMAIN_NAME)
			return false;
		memcpy(name, text, size);
		name[size] = '\0';
	} else if (!to_ascii(text, name)) {
		return false;
	}
	return domain_is_name(name);
}

int
domain_read(const char *text, struct domain *domain, struct err *e)
{
	bool wild = strncmp(text, "*.", 2) == 0;
	auto_free char *name = strdup(text + (wild ? 2 : 0));
	char *colon = name != NULL ? strchr(name, ':') : NULL;

	*domain = (struct domain){ .wild = wild };
	if (name == NULL)
		return err_sys(e, "domain");
	if (colon != NULL)
		*colon = '\0';
	if (!read_name(name, domain->name) ||
	    (colon != NULL && read_port(colon + 1, &domain->port) < 0))
		return err_set(e, ERR_invalid_argument,
		    "'%.64s' is not a domain, as in example.com, *.example.com or "
		    "example.com:8443; addresses are not accepted",
		    text);
	return 0;
}

int
domain_check(const char *text, char canonical[DOMAIN_CANONICAL], struct err *e)
{
	struct domain domain;
	char port[8] = "";

	if (domain_read(text, &domain, e) < 0)
		return -1;
	if (strchr(domain.name, '.') == NULL)
		return err_set(e, ERR_invalid_argument,
		    "'%.64s' has only one label; name a domain such as example.com", text);
	if (domain.port != 0)
		snprintf(port, sizeof port, ":%u", domain.port);
	snprintf(canonical, DOMAIN_CANONICAL, "%s%s%s", domain.wild ? "*." : "", domain.name, port);
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
