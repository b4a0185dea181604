/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - cloister-gateway: MCP on one side, messages to the daemons on the other.
 *
 * It trusts nobody: its input is a client that passes on what a model wrote, and replies that hold
 * what hostile programs wrote.  What it offers and whom it asks stands in schema.def, and calls
 * know no tool by name; resources, completions and downloads (mcp/resource/resource.c,
 * mcp/complete.c, transport/http/files.c) name the messages that they read.  It holds what no other
 * daemon must have: who the client is.  Of the machine it can reach its two streams or its
 * listening socket, the endpoints of its edges, and, to read, the directories of credentials and
 * certificates, nothing else.
 */
#include "gateway/mcp/resource/follow.h"
#include "gateway/mcp/sealed.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/rpc/pieces.h"
#include "gateway/transport/http/http.h"
#include "gateway/transport/stdio.h"

#include "common/base/auto.h"
#include "common/daemon/daemon.h"

#include <jansson.h>
#include <seccomp.h>

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char principal[32];

static int
check_lease(struct err *e)
{
	if (options.lease == 0 || fcntl((int)options.lease, F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	return err_sys(e, "lease: descriptor %d", (int)options.lease);
}

/* Over stdio whoever started the gateway is who asks. */
static int
open_stdio(struct err *e)
{
	snprintf(principal, sizeof principal, "local:%u", (unsigned)getuid());
	return stdio_prepare(principal, options.namespace[0] != 0 ? options.namespace : NULL, e);
}

static const struct transport_kind {
	const char *name;
	int (*open)(struct err *);
	int (*start)(struct err *);
	size_t (*drain)(void);
	void (*stop)(void);
} transports[] = {
	{ "stdio", open_stdio, stdio_start, NULL, stdio_stop },
	{ "http", http_open, http_start, http_drain, http_stop },
	{ "sse", http_open, http_start, http_drain, http_stop },
};

static const struct transport_kind *transport = transports;

static int
choose_transport(struct err *e)
{
	for (transport = transports; transport < transports + COUNT(transports); transport++)
		if (strcmp(transport->name, options.transport) == 0)
			return 0;
	return err_set(e, ERR_invalid_argument, "transport: '%s' is none of stdio, http, sse",
	    options.transport);
}

static int
open_gateway(struct err *e)
{
	if (options.describe) {
		tools_describe(stdout);
		exit(fflush(stdout) == 0 ? 0 : 1);
	}
	/* What a large message took is given back, as glibc's own, growing threshold would not. */
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#ifndef SANITIZED /* where whatever is gone has to be gone */
	pieces_open();
#endif
	json_object_seed(0); /* opens /dev/urandom, else at the first object, in the jail */
	if (choose_transport(e) < 0 || tools_choose(options.toolsets, e) < 0 ||
	    check_lease(e) < 0 || sealed_open(options.seal_key, e) < 0)
		return -1;
	return transport->open(e);
}

static int
start_gateway(struct err *e)
{
	follow_start();
	return transport->start(e);
}

static void
stop_gateway(void)
{
	transport->stop();
}

static size_t
drain_gateway(void)
{
	return transport->drain == NULL ? 0 : transport->drain();
}

static const int syscalls[] = {
#define ALLOW(name) SCMP_SYS(name),
#include "gateway/syscalls.def"
	-1,
};

static const struct daemon gateway = {
	.self = PEER_gateway,
	.settings = options_table,
	.open = open_gateway,
	.start = start_gateway,
	.stop = stop_gateway,
	.drain = drain_gateway,
	.syscalls = syscalls,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &gateway);
}
