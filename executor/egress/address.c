/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.c - which addresses are public.
 *
 * Trusts the operator's list of networks.  This host's own addresses are refused, because services
 * listen there for this host.  All else that is not public is refused: loopback,
 * private and shared networks, link-local ones (cloud metadata), multicast, documentation, and the
 * forms of IPv6 that contain an address of IPv4.
 */
#include "executor/egress/address.h"

#include "common/base/auto.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NETWORKS = 256,
	TEXT = 64,
};

struct network_of {
	int family;
	unsigned bits;
	unsigned char bytes[16];
};

static struct {
	struct network_of allowed[NETWORKS], refused[NETWORKS];
	size_t nallowed, nrefused;
} lists;

/* 2000::/3 is the public part of IPv6; these are exceptions in it.  168.63.129.16 is the platform
 * of a large cloud, which gives its guests credentials. */
static const char never[] =
    "0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.0.0.0/24,"
    "168.63.129.16/32,192.0.2.0/24,192.88.99.0/24,192.168.0.0/16,198.18.0.0/15,198.51.100.0/"
    "24,203.0.113.0/24,"
    "224.0.0.0/3,2001::/23,2001:db8::/32,2002::/16,3fff::/20";

socklen_t
address_size(const union address *address)
{
	return address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
}

void
address_set_port(union address *address, uint16_t port)
{
	if (address->any.sa_family == AF_INET)
		address->v4.sin_port = htons(port);
	else
		address->v6.sin6_port = htons(port);
}

int
address_read(const char *text, uint16_t port, union address *address)
{
	char host[TEXT];
	const char *colon = strrchr(text, ':');
	bool bracket = text[0] == '[', alone = !bracket && strchr(text, ':') != colon;
	size_t size = strlen(text);

	if (!alone && colon != NULL && (!bracket || colon[-1] == ']')) {
		size = (size_t)(colon - text);
		port = (uint16_t)strtoul(colon + 1, NULL, 10);
	}
	size -= bracket ? 2 : 0;
	if (size >= sizeof host || port == 0)
		return -1;
	snprintf(host, sizeof host, "%.*s", (int)size, text + (bracket ? 1 : 0));
	memset(address, 0, sizeof *address);
	if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1)
		address->any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1)
		address->any.sa_family = AF_INET6;
	else
		return -1;
	address_set_port(address, port);
	return 0;
}

/* ---- networks ---- */

static int
read_network(char *text, struct network_of *network)
{
	char *slash = strchr(text, '/'), *end = text;
	unsigned long bits = slash != NULL ? strtoul(slash + 1, &end, 10) : 0;

	if (slash == NULL || end == slash + 1 || *end != '\0')
		return -1;
	*slash = '\0';
	network->bits = (unsigned)bits;
	network->family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	if (bits > (network->family == AF_INET ? 32 : 128))
		return -1;
	return inet_pton(network->family, text, network->bytes) == 1 ? 0 : -1;
}

static int
read_list(const char *text, struct network_of *list, size_t *n, struct err *e)
{
	auto_free char *copy = strdup(text);
	char *rest = copy, *word;

	if (copy == NULL)
		return err_sys(e, "allowed_networks");
	while ((word = strsep(&rest, ", ")) != NULL) {
		if (*word == '\0')
			continue;
		if (*n == NETWORKS || read_network(word, &list[*n]) < 0)
			return err_set(e, ERR_invalid_argument,
			    "allowed_networks: %.64s is no network as in 10.1.0.0/16", word);
		(*n)++;
	}
	return 0;
}

int
address_open(const char *networks, struct err *e)
{
	lists.nallowed = lists.nrefused = 0;
	return read_list(networks, lists.allowed, &lists.nallowed, e) < 0
	           ? -1
	           : read_list(never, lists.refused, &lists.nrefused, e);
}

static const unsigned char *bytes_of(const union address *);

void
address_refuse(const union address *address)
{
	struct network_of *network = &lists.refused[lists.nrefused];
	unsigned size = address->any.sa_family == AF_INET ? 4 : 16;

	if (lists.nrefused == NETWORKS)
		return;
	*network = (struct network_of){ .family = address->any.sa_family, .bits = 8 * size };
	memcpy(network->bytes, bytes_of(address), size);
	lists.nrefused++;
}

int
address_refuse_own(struct err *e)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return err_sys(e, "list the addresses of this host");
	for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
		const struct sockaddr *any = at->ifa_addr;
		union address own = { 0 };

		if (any == NULL || (any->sa_family != AF_INET && any->sa_family != AF_INET6))
			continue;
		memcpy(&own, any, any->sa_family == AF_INET ? sizeof own.v4 : sizeof own.v6);
		if (address_is_permitted(&own))
			address_refuse(&own);
	}
	freeifaddrs(all);
	return 0;
}

static const unsigned char *
bytes_of(const union address *address)
{
	return address->any.sa_family == AF_INET ? (const unsigned char *)&address->v4.sin_addr
	                                         : (const unsigned char *)&address->v6.sin6_addr;
}

static bool
is_in(const union address *address, const struct network_of *network)
{
	const unsigned char *bytes = bytes_of(address);
	unsigned whole = network->bits / 8, rest = network->bits % 8;
	unsigned mask = rest == 0 ? 0 : 0xffu << (8 - rest) & 0xff;

	return address->any.sa_family == network->family &&
	       memcmp(bytes, network->bytes, whole) == 0 &&
	       (rest == 0 || ((bytes[whole] ^ network->bytes[whole]) & mask) == 0);
}

static bool
is_in_any(const union address *address, const struct network_of *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_in(address, &list[i]))
			return true;
	return false;
}

bool
address_is_permitted(const union address *address)
{
	static const struct network_of public6 = { AF_INET6, 3, { 0x20 } };

	if (is_in_any(address, lists.allowed, lists.nallowed))
		return true;
	if (address->any.sa_family == AF_INET6 && !is_in(address, &public6))
		return false;
	return !is_in_any(address, lists.refused, lists.nrefused);
}
