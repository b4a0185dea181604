/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auditd - the append-only, hash-chained record of what was done here.
 *
 * Trusts nobody: the other daemons may lie about what they do next, but none can change or drop
 * what already stands here, nor speak in another's name: who reports is known from the socket.
 * Holds the log's only descriptor that can write, opened before the jail.
 */
#include "auditd/group.h"
#include "auditd/journal.h"
#include "auditd/query.h"
#include "auditd/record.h"
#include "auditd/seen.h"
#include "auditd/verify.h"

#include "common/daemon/daemon.h"

#include <string.h>

static uint64_t torn;

static void
remember(const struct chain_link *link)
{
	struct audit_entry entry = { 0 };
	struct err e;

	if (record_decode(link, &entry, &e) == 0)
		seen_add(entry.daemon, entry.event->uid);
	message_clear(MSG_audit_entry, &entry);
}

static int
open_journal(struct err *e)
{
	seen_open();
	return journal_open(daemon_state(), remember, &torn, e);
}

static int
start(struct err *e)
{
	return group_open(torn, e);
}

static void
stop(void)
{
	group_close();
	journal_close();
}

static const struct setting settings[] = { { 0 } };

static const struct route routes[] = {
	{ MSG_audit_append, FROM(gateway) | FROM(executor) | FROM(snapshotd), group_append },
	{ MSG_audit_execution, FROM(gateway), query_execution },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_auditd,
	.summary = "keep the hash-chained log; --verify FILE checks one and exits",
	.settings = settings,
	.routes = routes,
	.memory_bytes = (uint64_t)1 << 30,
	.state = true,
	.open = open_journal,
	.start = start,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--verify") == 0)
		return verify_file(argv[2]);
	return daemon_main(argc, argv, &self);
}
