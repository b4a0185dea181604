/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshotd - stores contents by their SHA-256, snapshots made of them, and registered schemas.
 *
 * Trusts nobody: it hashes everything that it receives, and hashes again what it reads from its
 * disk.  It has the only copy of the users' snapshots, so it replies only after data is durable.
 */
#include "common/base/log.h"
#include "common/base/work.h"
#include "common/daemon/daemon.h"
#include "snapshotd/content.h"
#include "snapshotd/gc.h"
#include "snapshotd/load.h"
#include "snapshotd/options.h"
#include "snapshotd/schema.h"
#include "snapshotd/schema_store.h"
#include "snapshotd/snapshot.h"
#include "snapshotd/store.h"

#define SYSCALLS "snapshotd/syscalls.def"
#include "common/daemon/own_syscalls.h"

static int
start(struct err *e)
{
	if (load_store(daemon_state(), e) < 0 || schema_store_open(daemon_state(), e) < 0 ||
	    work_open(options.threads, e) < 0)
		return -1;
	gc_run();
	return 0;
}

static void
stop(void)
{
	gc_stop();
	work_close();
	store_close();
	schema_store_close();
}

static const struct route routes[] = {
	{ MSG_snapshot_offer, FROM(executor), content_on_offer },
	{ MSG_snapshot_put, FROM(executor), content_on_put },
	{ MSG_snapshot_commit, FROM(executor), snapshot_on_commit },
	{ MSG_snapshot_open, FROM(executor), snapshot_on_open },
	{ MSG_snapshot_get, FROM(executor), content_on_get },
	{ MSG_snapshot_query, FROM(executor), snapshot_on_query },
	{ MSG_snapshot_drop, FROM(executor), snapshot_on_drop },
	{ MSG_register_schema, FROM(executor), schema_on_register },
	{ MSG_list_schemas, FROM(executor), schema_on_list },
	{ MSG_get_schema, FROM(executor), schema_on_get },
	{ MSG_remove_schema, FROM(executor), schema_on_remove },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_snapshotd,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.memory_bytes = (uint64_t)20
	                << 30, /* 16 of it for what strangers may announce: common/bus/server.c */
	.start = start,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
