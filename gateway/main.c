/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - cloister-gateway: MCP on one side, messages to the daemons on the other.
 *
 * It trusts nothing that it reads: its client passes on what a model wrote, and replies contain the
 * output of hostile programs.  Only the gateway determines who the client is.  schema.def defines
 * the tools and the daemon that serves each, and calls.c knows no tool by name.  Resources,
 * completions and downloads (mcp/resource/resource.c, mcp/complete.c, transport/http/files.c) name
 * the messages that they read.  On the machine it can reach only its two streams or its listening
 * socket, the endpoints of its edges, and, to read, the directories of credentials and
 * certificates.
 */
#include "gateway/compat/compat.h"
#include "gateway/compat/rest.h"
#include "gateway/lease.h"
#include "gateway/mcp/resource/follow.h"
#include "gateway/mcp/sealed.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/rpc/pieces.h"
#include "gateway/transport/http/http.h"
#include "gateway/transport/stdio.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/credential/identity.h"
#include "common/daemon/daemon.h"
#include "common/rights/rights.h"
#include "common/table/replaced.h"

#define SYSCALLS "gateway/syscalls.def"
#include "common/daemon/own_syscalls.h"

#include <jansson.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Over stdio the principal is the user that started the gateway. */
static int
open_stdio(struct err *e)
{
	struct identity user;
	struct owner owner;

	identity_local(&user, (unsigned)getuid());
	must(owner_set(&owner, user.owner.principal, options.namespace));
	return stdio_prepare(&owner, e);
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
	return err_set(e, ERR_invalid_argument, "transport: '%s' is not one of stdio, http, sse",
	    options.transport);
}

static void
warn_of(const char *name, const char *instead)
{
	log_warn("a setting of another system has no effect", LOG_S("setting", name),
	    LOG_S("instead", instead));
}

static int
open_gateway(struct err *e)
{
	if (options.describe) {
		tools_describe(stdout);
		rest_describe(stdout);
		exit(fflush(stdout) == 0 ? 0 : 1);
	}
	replaced_report(warn_of);
	/* Returns the memory of a large message to the kernel.  glibc's own threshold grows and
	 * would not. */
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#ifndef SANITIZED /* sanitizers have to see each free() */
	pieces_open();
#endif
	/* Opens /dev/urandom.  Without this, the first object would open it, in the jail. */
	json_object_seed(0);
	if (choose_transport(e) < 0 || tools_choose(options.toolsets, e) < 0)
		return -1;
	if (compat_on())
		replaced_report_file(".env", warn_of);
	if (rest_open(e) < 0 || rights_open(options.policies, daemon_state_root(), e) < 0 ||
	    lease_open(e) < 0 || sealed_open(options.seal_key, e) < 0)
		return -1;
	return transport->open(e);
}

static int
start_gateway(struct err *e)
{
	follow_start();
	return lease_start(e) < 0 ? -1 : transport->start(e);
}

static void
stop_gateway(void)
{
	transport->stop();
	rights_close();
}

static size_t
drain_gateway(void)
{
	return transport->drain == NULL ? 0 : transport->drain();
}

static const struct daemon gateway = {
	.self = PEER_gateway,
	.settings = options_table,
	.open = open_gateway,
	.start = start_gateway,
	.stop = stop_gateway,
	.drain = drain_gateway,
	.syscalls = syscalls,
	.refused = refused,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &gateway);
}
