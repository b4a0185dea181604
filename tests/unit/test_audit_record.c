/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit_record.c - the content of a record, deduplication of events, and verification of
 * the log. */
#include "tests/unit/ledger.h"

#include "auditd/journal.h"
#include "auditd/record.h"
#include "auditd/seen.h"
#include "auditd/verify.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- records and uids ---- */

static size_t
pack(const char *daemon, struct audit_event *event, uint8_t record[CHAIN_RECORD_MAX])
{
	struct packed packed;
	struct err e;

	assert_return_code(wire_encode(MSG_audit_event, event, &packed, &e), 0);

	size_t size = record_pack(daemon, &packed.body, record, &e);

	assert_true(size > 0);
	packed_clear(&packed);
	return size;
}

static void
records_say_who_reported(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "u-1" },
		.time_ms = 5,
		.event = event_session_killed,
		.principal = (char[]){ "local:0" },
		.wall_ms = 1.5,
	};
	struct audit_entry entry = { 0 };
	struct chain_buffer buffer = { 0 };
	struct chain_end end = { 0 };
	struct chain_link link;
	struct err e;
	uint8_t record[CHAIN_RECORD_MAX];
	size_t size = pack("snapshotd", &event, record);

	(void)unused;
	assert_return_code(chain_add(&buffer, &end, 0, record, size, &e), 0);
	assert_int_equal(chain_parse(buffer.data, buffer.size, &link), buffer.size);
	assert_return_code(record_decode(&link, &entry, &e), 0);
	assert_int_equal(entry.sequence, 1);
	assert_string_equal(entry.daemon, "snapshotd");
	assert_string_equal(entry.event->uid, "u-1");
	assert_string_equal(entry.event->principal, "local:0");
	assert_int_equal(entry.event->event, event_session_killed);
	assert_true(strspn(entry.previous, "0") == 64);
	assert_true(hash_is_hex(entry.hash));
	message_clear(MSG_audit_entry, &entry);
	link.size = 3;
	assert_int_equal(record_decode(&link, &entry, &e), -1);
	link.size = 0;
	assert_int_equal(record_decode(&link, &entry, &e), -1);
	chain_buffer_clear(&buffer);
}

static void
an_event_too_large_for_a_record_is_refused(void **unused)
{
	static char large[CHAIN_RECORD_MAX];
	uint8_t record[CHAIN_RECORD_MAX];
	struct blob event = { large, CHAIN_RECORD_MAX - 7 };
	struct err e;

	(void)unused;
	assert_int_equal(record_pack("auditd", &event, record, &e), CHAIN_RECORD_MAX);
	event.size++;
	assert_int_equal(record_pack("auditd", &event, record, &e), 0);
	assert_int_equal(e.code, ERR_limit_exceeded);
}

static void
a_uid_is_taken_once_for_each_daemon(void **unused)
{
	(void)unused;
	seen_open();
	assert_true(seen_add("executor", "a"));
	assert_false(seen_add("executor", "a"));
	assert_true(seen_add("gateway", "a"));
	assert_true(seen_add("executor", "b"));
	seen_undo(1);
	assert_true(seen_add("executor", "b"));
	assert_false(seen_add("executor", "a"));
}

static void
the_last_65536_uids_are_known(void **unused)
{
	char uid[32];

	(void)unused;
	seen_open();
	for (int i = 0; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_true(seen_add("executor", uid));
	}
	for (int i = 200000 - 65536; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_false(seen_add("executor", uid));
	}
	assert_true(seen_add("executor", "uid-0"));
	seen_undo(65536);
	for (int i = 200000 - 65536; i < 200000; i++) {
		snprintf(uid, sizeof(uid), "uid-%d", i);
		assert_true(seen_add("executor", uid));
	}
}

/* ---- verify ---- */

static int
verify(void)
{
	char path[128];
	char *argv[] = { (char *)"--verify", path };

	snprintf(path, sizeof(path), "%s/audit.log", ledger_path());
	return verify_main(2, argv);
}

static void
verify_tells_whole_from_damaged(void **unused)
{
	struct audit_event event = {
		.uid = (char[]){ "u" }, .time_ms = 1, .event = event_artifact_signed
	};
	struct blob all;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		ledger_add_event("executor", &event);
		ledger_commit();
	}
	assert_int_equal(verify(), 0);
	all = ledger_load();
	ledger_store(all.data, all.size - 1);
	assert_int_equal(verify(), 0);
	((uint8_t *)all.data)[70] ^= 1;
	ledger_store(all.data, all.size);
	assert_int_equal(verify(), 1);
	blob_clear(&all);
	unlinkat(ledger_directory, "audit.log", 0);
	assert_int_equal(verify(), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, ledger_set_up, ledger_tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(records_say_who_reported),
		CASE(an_event_too_large_for_a_record_is_refused),
		CASE(a_uid_is_taken_once_for_each_daemon),
		CASE(the_last_65536_uids_are_known),
		CASE(verify_tells_whole_from_damaged),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
