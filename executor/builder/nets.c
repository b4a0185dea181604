/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nets.c - makes and caches network namespaces.
 *
 * Theory of operation.  With a loopback, a box can leave more behind than its processes hold:
 * connections in TIME_WAIT, sockets in flight in a cycle of unix sockets until the kernel collects
 * them, metrics of routes, counters.  All of that but the second has counted packets.  So a
 * namespace is used again only if it has no socket and its counters are those of a new one.
 * Otherwise it is closed, and the kernel destroys it with all that is in it.
 *
 * Trusts its caller to use each for one box only.
 */
#include "executor/builder/nets.h"

#include "common/base/auto.h"
#include "common/base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
	KEPT = 128, /* each takes about 50 kB of kernel memory */
	TRACES = 16384,
};

/* Whether a packet was sent, and whether one could not be. */
static const char *const counters[] = { "self/net/snmp", "self/net/snmp6" };

struct traces {
	size_t size;
	char text[TRACES];
};

static struct {
	const struct host *host;
	int own; /* the builder's */
	int free[KEPT];
	size_t nfree;
	struct traces fresh; /* those of a new one */
} nets;

/* ---- traces ---- */

static int
read_file(const char *name, struct traces *traces)
{
	auto_fd int file = openat(nets.host->proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	/* A kernel without IPv6 has no snmp6. */
	if (file < 0)
		return errno == ENOENT ? 0 : -1;
	while ((n = read(file, traces->text + traces->size, TRACES - traces->size)) > 0)
		traces->size += (size_t)n;
	return n < 0 || traces->size == TRACES ? -1 : 0;
}

static int
read_traces(struct traces *traces)
{
	traces->size = 0;
	for (size_t i = 0; i < COUNT(counters); i++)
		if (read_file(counters[i], traces) < 0)
			return -1;
	return 0;
}

static bool
has_sockets(void)
{
	static const char none[] = "sockets: used 0\n";
	struct traces traces = { 0 };

	return read_file("self/net/sockstat", &traces) < 0 ||
	       strncmp(traces.text, none, sizeof none - 1) != 0;
}

static bool
was_used(int net)
{
	static struct traces traces;

	if (!nets.host->loopback)
		return false;
	nets_enter(net);

	bool used = has_sockets() || read_traces(&traces) < 0 || traces.size != nets.fresh.size ||
	            memcmp(traces.text, nets.fresh.text, traces.size) != 0;

	nets_leave();
	return used;
}

/* ---- making one ---- */

static int
raise_loopback(struct err *e)
{
	auto_fd int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &lo) < 0)
		return err_sys(e, "bring up a loopback");
	return 0;
}

/* Nobody but the box's programs can meet at its ports.  If the host's /proc does not show this,
 * the ports below 1024 stay closed. */
static void
open_low_ports(void)
{
	auto_fd int first = openat(
	    nets.host->proc, "sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);

	if (first >= 0 && write(first, "0", 1) < 0)
		return;
}

/* In the new namespace. */
static int
settle(struct err *e)
{
	if (!nets_have_loopback())
		return 0;
	open_low_ports();
	return raise_loopback(e);
}

static int
make(struct err *e)
{
	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(e, "make a network namespace");

	auto_fd int net = host_space(nets.host, HOST_NET, e);
	int r = net < 0 ? -1 : settle(e);

	nets_leave();
	return r < 0 ? -1 : take_fd(&net);
}

/* The first one shows what this host can do. */
static int
try_one(struct host *host, struct err *e)
{
	int net = make(e);

	if (net < 0 && host->loopback && e->sys != 0) {
		host->loopback_errno = (uint8_t)e->sys;
		net = make(e);
	}
	if (net < 0)
		return -1;
	nets_enter(net);

	int r = read_traces(&nets.fresh);

	nets_leave();
	nets_give(net);
	return r < 0 ? err_sys(e, "read the counters of a network namespace") : 0;
}

int
nets_open(struct host *host, struct err *e)
{
	nets.host = host;
	nets.own = host_space(host, HOST_NET, e);
	if (nets.own < 0)
		return -1;
	return host->loopback ? try_one(host, e) : 0;
}

int
nets_take(struct err *e)
{
	return nets.nfree > 0 ? nets.free[--nets.nfree] : make(e);
}

void
nets_give(int net)
{
	if (net < 0)
		return;
	if (nets.nfree < KEPT && !was_used(net))
		nets.free[nets.nfree++] = net;
	else
		close(net);
}

bool
nets_have_loopback(void)
{
	return nets.host->loopback && nets.host->loopback_errno == 0;
}

void
nets_enter(int net)
{
	must(setns(net, CLONE_NEWNET) == 0);
}

void
nets_leave(void)
{
	must(setns(nets.own, CLONE_NEWNET) == 0);
}
