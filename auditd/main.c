/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auditd - the append-only, hash-chained audit log.
 *
 * Trusts nobody.  Other daemons may lie about what they do next, but none can change or drop what
 * is recorded, or report under another's name: the socket identifies the reporter. auditd holds the
 * only writable descriptor of the log, opened before the jail, and the key that signs the state of
 * the log.  Other daemons keep the signed checkpoints, so that a cut or rewritten log is noticed
 * even if auditd itself was compromised.
 */
#include "auditd/follow.h"
#include "auditd/group.h"
#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/options.h"
#include "auditd/query.h"
#include "auditd/record.h"
#include "auditd/rotate.h"
#include "auditd/seen.h"
#include "auditd/verify.h"
#include "auditd/witness.h"

#include "common/daemon/daemon.h"

#include <string.h>

static uint64_t torn;

/* A loss that a new segment states again has the time at which it was accepted. */
static void
remember_own(const struct chain_link *link, const struct audit_event *event)
{
	if (event->event == event_audit_loss_accepted)
		witness_accepted(event->time_ms);
	if (event->event == event_audit_segment_closed)
		rotate_closed(link->number);
}

static void
remember(const struct chain_link *link)
{
	struct audit_entry entry = { 0 };
	struct err e;

	if (record_decode(link, &entry, &e) == 0) {
		seen_add(entry.daemon, entry.event->uid);
		if (strcmp(entry.daemon, edge_peer_name(PEER_auditd)) == 0)
			remember_own(link, entry.event);
	}
	message_clear(MSG_audit_entry, &entry);
}

static int
open_journal(struct err *e)
{
	seen_open();
	if (witness_open(daemon_state_root(), e) < 0 ||
	    key_open(daemon_state(), options.accept_new_key, e) < 0)
		return -1;
	return journal_open(daemon_state(), remember, &torn, e);
}

static int
start(struct err *e)
{
	struct group_start found = { .torn = torn, .accept_loss = options.accept_loss };

	if (witness_start(options.accept_loss, &found.lost, e) < 0)
		return -1;
	return group_open(&found, e);
}

/* Ends the waiting requests for events, which do not delay the exit. */
static size_t
drain(void)
{
	follow_close();
	return 0;
}

static void
stop(void)
{
	group_close();
	journal_close();
	key_close();
}

static const struct route routes[] = {
	{ MSG_audit_append,
	    FROM(gateway) | FROM(executor) | FROM(snapshotd) | FROM(vault) | FROM(approvald),
	    group_append },
	{ MSG_audit_execution, FROM(gateway), query_execution },
	{ MSG_follow_events, FROM(gateway), follow_events },
	{ MSG_audit_all, 0, follow_all },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_auditd,
	.summary =
	    "keeps the hash-chained log; --verify LOG [--since=CHECKPOINT [--key=KEY]] checks "
	    "a log and exits, --public-key prints the public key of the checkpoints",
	.settings = options_table,
	.routes = routes,
	.memory_bytes = (uint64_t)1 << 30,
	.open = open_journal,
	.start = start,
	.stop = stop,
	.drain = drain,
};

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--verify") == 0)
		return verify_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "--public-key") == 0)
		return key_print(argc - 1, argv + 1);
	return daemon_main(argc, argv, &self);
}
