/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_audit_removed.c - what was removed from the log is named; what is missing with nothing said
 * is damage.
 */
#include "tests/unit/ledger.h"
#include "tests/unit/segmented.h"

#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/logfile.h"
#include "auditd/options.h"
#include "auditd/rotate.h"
#include "auditd/segments.h"
#include "auditd/verify.h"
#include "auditd/witness.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LOST = 12345 }; /* when a loss was accepted */

static void
remove_segment(size_t i)
{
	char name[LOGFILE_NAME];

	logfile_name(segments_at(i)->first, name);
	assert_return_code(unlinkat(ledger_directory, name, 0), errno);
}

static void
assert_refused(const char *says)
{
	uint64_t torn;
	struct err e;

	journal_close();
	assert_int_equal(ledger_open(&torn, &e), -1);
	if (strstr(e.text, says) == NULL)
		fail_msg("%s", e.text);
}

static void
what_is_removed_stays_named(void **unused)
{
	char old[CHECKPOINT_TEXT], end[CHECKPOINT_TEXT], newer[CHECKPOINT_TEXT];
	uint64_t first, last, gone;

	(void)unused;
	segmented_write_records(RECORDS);
	gone = segments_at(1)->last;
	segmented_sign(gone - 1, old);
	segmented_sign(gone, end);
	segmented_sign(gone + 2, newer);
	remove_segment(1);
	remove_segment(0);
	for (int again = 0; again < 2; again++) {
		for (uint64_t n = 1; n <= gone; n++) {
			assert_true(journal_removed(n, &first, &last));
			assert_in_range(n, first, last);
		}
		assert_false(journal_removed(gone + 1, &first, &last));
		assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
		assert_int_equal(segmented_verify_since("", old), VERDICT_REMOVED);
		assert_int_equal(segmented_verify_since("", end), VERDICT_WHOLE);
		assert_int_equal(segmented_verify_since("audit.log", newer), VERDICT_WHOLE);
		ledger_reopen(journal_durable(), 0);
	}
	segmented_write_records(RECORDS);
	assert_int_equal(segmented_verify_since("", newer), VERDICT_WHOLE);
}

static void
one_in_the_middle_may_be_missing(void **unused)
{
	uint64_t first, last, from, to;

	(void)unused;
	segmented_write_records(RECORDS);
	from = segments_at(1)->first;
	to = segments_at(1)->last;
	remove_segment(1);
	assert_true(journal_removed(to, &first, &last));
	assert_int_equal(first, from);
	assert_int_equal(last, to);
	assert_false(journal_removed(from - 1, &first, &last));
	ledger_reopen(journal_durable(), 0);
	assert_true(journal_removed(from, &first, &last));
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
}

/* Records are not cut off in front with nothing said. */
static void
what_nobody_states_is_damage(void **unused)
{
	struct blob all;

	(void)unused;
	segmented_write_records(RECORDS);
	ledger_reopen(journal_durable(), 0);
	all = ledger_load();
	journal_close();
	ledger_store((char *)all.data + ledger_place(&all, 2), all.size - ledger_place(&all, 2));
	blob_clear(&all);
	assert_refused("are missing, and record");
	assert_int_equal(segmented_verify_all(), VERDICT_DAMAGED);
}

static void
a_damaged_closed_segment_is_found(void **unused)
{
	char name[LOGFILE_NAME];
	size_t size;
	struct err e;

	(void)unused;
	segmented_write_records(RECORDS);
	logfile_name(segments_at(1)->first, name);

	auto_fd int fd = openat(ledger_directory, name, O_RDWR | O_CLOEXEC);

	assert_int_equal(pwrite(fd, "?", 1, 900), 1);
	assert_null(journal_read(segments_at(1)->last, &size, &e));
	assert_non_null(strstr(e.text, "damaged"));
	assert_int_equal(segmented_verify_all(), VERDICT_DAMAGED);
	assert_int_equal(pwrite(fd, "?", 1, 9), 1);
	assert_refused("damaged");
}

static void
retention_removes_what_is_old(void **unused)
{
	struct err e;

	(void)unused;
	options.retention_days = 3;
	segmented_write_records(RECORDS);

	size_t had = segments_count();
	uint64_t last = journal_durable();

	options.segment_bytes = 0;
	segmented_later_ms = (uint64_t)2 * DAY_MS;
	rotate_retain();
	assert_int_equal(segments_count(), had);
	segmented_later_ms = (uint64_t)3 * DAY_MS + 60000;
	rotate_retain();
	assert_return_code(segmented_commit(&e), 0);
	assert_int_equal(segments_count(), 0);
	for (size_t i = 1; i <= had; i++)
		assert_true(segmented_is_event(last + i, event_audit_segment_removed));
	assert_int_equal(segmented_verify_all(), VERDICT_WHOLE);
	ledger_reopen(journal_durable(), 0);
	options.retention_days = 0;
	options.segment_bytes = SEGMENT;
	segmented_write_records(RECORDS);
	segmented_later_ms = (uint64_t)365 * DAY_MS;
	rotate_retain();
	assert_true(segments_count() > 0);
}

static void
an_accepted_loss_outlives_its_segment(void **unused)
{
	const struct segment *s;
	struct audit_entry entry;

	(void)unused;
	witness_accepted(LOST);
	segmented_write_records(RECORDS);
	s = segments_at(0);
	segmented_read_entry(s->last + 2, &entry);
	assert_int_equal(entry.event->event, event_audit_loss_accepted);
	assert_int_equal(entry.event->time_ms, LOST);
	message_clear(MSG_audit_entry, &entry);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, segmented_set_up, segmented_tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(what_is_removed_stays_named),
		CASE(one_in_the_middle_may_be_missing),
		CASE(what_nobody_states_is_damage),
		CASE(a_damaged_closed_segment_is_found),
		CASE(retention_removes_what_is_old),
		CASE(an_accepted_loss_outlives_its_segment),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
