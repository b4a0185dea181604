/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secretd - authenticates programs at servers without showing them the credentials: it ends TLS for
 * the names that have some, adds the header and masks it in answers.
 *
 * Trusts the operator for the credentials, the executor for the names of a run, and egress for
 * where a connection comes from and leads; every byte of programs and servers is hostile.  It holds
 * what no other daemon may have: the credentials, in a process of their own, which reads no such
 * byte. It resolves and connects nothing.
 */
#include "common/daemon/daemon.h"
#include "executor/secretd/bound.h"
#include "executor/secretd/keeper_link.h"
#include "executor/secretd/options.h"
#include "executor/secretd/tls.h"

#define SYSCALLS "executor/secretd/syscalls.def"
#include "common/daemon/own_syscalls.h"

static struct texts names; /* that have credentials */

static int
copy_names(const struct credentials *credentials, struct err *e)
{
	for (size_t i = 0; i < credentials->count; i++)
		if (texts_add(&names, credentials->all[i]->name) < 0)
			return err_sys(e, "names");
	return 0;
}

/* Without credentials there is no keeper. */
static int
open_keeper(struct err *e)
{
	struct keeper_plan plan = {
		.max_connections = options.max_connections,
		.idle_ms = (int64_t)options.idle_ms,
	};
	int status;

	bound_know(&names);
	if (options.credentials[0] == '\0')
		return 0;
	if (credentials_load(options.credentials, &plan.credentials, e) < 0)
		return err_add(e, "credentials");
	status = copy_names(&plan.credentials, e);
	if (status == 0)
		status = tls_trust(options.ca_file, &plan.trust, e);
	if (status == 0) {
		status = keeper_link_open(&plan, e);
		gnutls_certificate_free_credentials(plan.trust);
	}
	credentials_clear(&plan.credentials);
	return status;
}

static void
stop(void)
{
	bound_close();
	texts_clear(&names);
}

static const struct route routes[] = {
	{ MSG_serve_bound, FROM(executor), bound_on_serve_bound },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_secretd,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.memory_bytes = (uint64_t)2 << 30,
	.open = open_keeper,
	.start = bound_open,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
