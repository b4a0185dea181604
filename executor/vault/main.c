/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault - keeps secrets for programs: sealed at rest and in memory, revealed only to the executor.
 *
 * It trusts nobody.  An operator at its socket and the gateway may add, list and delete, and have
 * no message that reads a value. The executor may read the values of an owner that it names: it
 * runs that owner's programs.  The vault holds what no other daemon may have: the key of all
 * secrets.  It has no network; its memory is not dumpable, and keys are in locked memory.
 */
#include "common/daemon/daemon.h"
#include "executor/vault/backend.h"
#include "executor/vault/options.h"
#include "executor/vault/vault.h"

#define SYSCALLS "executor/vault/syscalls.def"
#include "common/daemon/own_syscalls.h"

static int
start(struct err *e)
{
	return backend_start(daemon_state(), e);
}

static const struct route routes[] = {
	{ MSG_vault_add, FROM(gateway), vault_on_vault_add },
	{ MSG_vault_list, FROM(gateway) | FROM(executor), vault_on_vault_list },
	{ MSG_vault_delete, FROM(gateway), vault_on_vault_delete },
	{ MSG_vault_rekey, FROM(gateway), vault_on_vault_rekey },
	{ MSG_vault_reveal, FROM(executor), vault_on_vault_reveal },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_vault,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.memory_bytes = (uint64_t)4 << 30,
	.open = backend_open,
	.start = start,
	.stop = backend_close,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
