/* SPDX-License-Identifier: Apache-2.0 */
/* nets.c - makes and caches network namespaces.  Trusts its caller to use each for one box only. */
#include "executor/builder/nets.h"

#include "common/base/auto.h"

#include <sched.h>

enum {
	KEPT = 128, /* each takes about 50 kB of kernel memory */
};

static struct {
	const struct host *host;
	int own; /* the builder's */
	int free[KEPT];
	size_t nfree;
} nets;

int
nets_open(const struct host *host, struct err *e)
{
	nets.host = host;
	nets.own = host_space(host, HOST_NET, e);
	return nets.own < 0 ? -1 : 0;
}

int
nets_take(struct err *e)
{
	if (nets.nfree > 0)
		return nets.free[--nets.nfree];
	if (unshare(CLONE_NEWNET) < 0)
		return err_sys(e, "make a network namespace");

	int net = host_space(nets.host, HOST_NET, e);

	must(setns(nets.own, CLONE_NEWNET) == 0);
	return net;
}

void
nets_give(int net)
{
	if (net < 0)
		return;
	if (nets.nfree < KEPT)
		nets.free[nets.nfree++] = net;
	else
		close(net);
}
