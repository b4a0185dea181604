/* SPDX-License-Identifier: Apache-2.0 */
/* segmented.c - writes a test's audit log in segments, and moves its clock. */
#include "tests/unit/segmented.h"

#include "tests/unit/ledger.h"

#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/options.h"
#include "auditd/own.h"
#include "auditd/record.h"
#include "auditd/rotate.h"
#include "auditd/verify.h"
#include "auditd/witness.h"

#include "common/base/timestamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

uint64_t segmented_later_ms;

uint64_t __wrap_timestamp_ms(void);
uint64_t __real_timestamp_ms(void);

uint64_t
__wrap_timestamp_ms(void)
{
	return __real_timestamp_ms() + segmented_later_ms;
}

void
segmented_record(void)
{
	struct err e;

	assert_return_code(rotate_before_add(&e), 0);
	assert_return_code(own_add(event_daemon_started, "a record", timestamp_ms(), &e), 0);
}

int
segmented_commit(struct err *e)
{
	bool wrote;

	while (journal_filled() > 0) {
		if (journal_write(&wrote, e) < 0)
			return -1;
		journal_settle();
	}
	return 0;
}

void
segmented_write_records(int count)
{
	struct err e;

	for (int i = 0; i < count; i++) {
		segmented_record();
		assert_return_code(segmented_commit(&e), 0);
	}
}

int
segmented_set_up(void **state)
{
	struct err e;

	options.segment_bytes = SEGMENT;
	options.segment_days = options.retention_days = 0;
	segmented_later_ms = 0;
	rotate_closed(0);
	return ledger_set_up(state) < 0 || key_open(ledger_directory, false, &e) < 0 ||
	               witness_open(ledger_path(), &e) < 0
	           ? -1
	           : 0;
}

int
segmented_tear_down(void **state)
{
	key_close();
	return ledger_tear_down(state);
}

/* The event of a record, which must be there. */
void
segmented_read_entry(uint64_t number, struct audit_entry *entry)
{
	struct chain_link link;
	size_t size;
	struct err e;
	const uint8_t *run = journal_read(number, &size, &e);

	if (run == NULL)
		fail_msg("%s", e.text);
	for (ssize_t n; (n = chain_parse(run, size, &link)) > 0; run += n) {
		size -= (size_t)n;
		if (link.number == number) {
			*entry = (struct audit_entry){ 0 };
			assert_return_code(record_decode(&link, entry, &e), 0);
			return;
		}
	}
	fail_msg("record %d is not in its run", (int)number);
}

bool
segmented_is_event(uint64_t number, enum event event)
{
	struct audit_entry entry;

	segmented_read_entry(number, &entry);

	bool is = entry.event->event == (int)event;

	message_clear(MSG_audit_entry, &entry);
	return is;
}

int
segmented_verify_since(const char *name, const char *since)
{
	char log[128], option[CHECKPOINT_TEXT + 16];
	char *argv[] = { (char *)"--verify", log, option };

	snprintf(log, sizeof log, "%s/%s", ledger_path(), name);
	snprintf(option, sizeof option, "--since=%s", since == NULL ? "" : since);
	return verify_main(since == NULL ? 2 : 3, argv);
}

int
segmented_verify_all(void)
{
	return segmented_verify_since("", NULL);
}

void
segmented_sign(uint64_t number, char text[CHECKPOINT_TEXT])
{
	struct checkpoint c = { .number = number, .time_ms = 1000 };
	struct err e;

	assert_return_code(journal_seal(number, c.seal, &e), 0);
	ledger_sign(&c, text);
}
