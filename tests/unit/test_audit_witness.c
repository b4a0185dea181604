/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit_witness.c - signed checkpoints are searched in the log: at start, and by verify. */
#include "tests/unit/ledger.h"

#include "auditd/journal.h"
#include "auditd/key.h"
#include "auditd/verify.h"
#include "auditd/witness.h"

#include "common/base/auto.h"
#include "common/journal/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { RECORDS = 20 };

/* ---- a log of events, and checkpoints of it ---- */

/* The same events each time, but not the same times. */
static void
write_events(int count)
{
	for (int i = 1; i <= count; i++) {
		char uid[16];
		struct audit_event event = { .uid = uid, .event = event_artifact_signed };

		snprintf(uid, sizeof uid, "uid-%d", i);
		ledger_add_event("executor", &event);
	}
	ledger_commit();
}

static void
sign_end(char text[CHECKPOINT_TEXT])
{
	struct checkpoint c = { .number = journal_durable(), .time_ms = 1000 };

	memcpy(c.seal, journal_end()->seal, HASH_BYTES);
	ledger_sign(&c, text);
}

/* All links made anew: a chain that is whole, of another past. */
static void
rewrite(int records)
{
	journal_close();
	ledger_store("", 0);
	ledger_reopen(0, 0);
	usleep(2000); /* the links hold the time */
	write_events(records);
}

static void
cut(uint64_t records)
{
	struct blob all = ledger_load();

	journal_close();
	ledger_store(all.data, ledger_place(&all, records + 1));
	ledger_reopen(records, 0);
	blob_clear(&all);
}

/* ---- what others keep ---- */

static void
keep(const char *directory, const char *text)
{
	char name[64];

	if (mkdirat(ledger_directory, directory, 0700) < 0)
		assert_int_equal(errno, EEXIST);
	snprintf(name, sizeof name, "%s/" SPOOL_CHECKPOINT, directory);

	auto_fd int fd =
	    openat(ledger_directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static const char *const directories[] = { "executor", "executor-2", "gateway", "validator" };

static void
forget_all(void)
{
	char name[64];

	for (size_t i = 0; i < COUNT(directories); i++) {
		snprintf(name, sizeof name, "%s/" SPOOL_CHECKPOINT, directories[i]);
		unlinkat(ledger_directory, name, 0);
		unlinkat(ledger_directory, directories[i], AT_REMOVEDIR);
	}
}

static int
set_up(void **state)
{
	struct err e;

	if (ledger_set_up(state) < 0 || key_open(ledger_directory, false, &e) < 0)
		return -1;
	write_events(RECORDS);
	return 0;
}

static int
tear_down(void **state)
{
	forget_all();
	key_close();
	return ledger_tear_down(state);
}

static int
start(uint64_t accept_loss, uint64_t *lost, struct err *e)
{
	*lost = 0;
	assert_return_code(witness_open(ledger_path(), e), 0);
	return witness_start(accept_loss, lost, e);
}

static void
assert_refused(const char *says)
{
	uint64_t lost;
	struct err e;

	assert_int_equal(start(0, &lost, &e), -1);
	if (strstr(e.text, says) == NULL)
		fail_msg("%s", e.text);
}

static void
assert_starts(void)
{
	uint64_t lost;
	struct err e;

	if (start(0, &lost, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(lost, 0);
}

/* ---- at start ---- */

static void
a_whole_log_starts(void **unused)
{
	char text[CHECKPOINT_TEXT], old[CHECKPOINT_TEXT];

	(void)unused;
	assert_starts();
	sign_end(old);
	keep("gateway", old);
	write_events(5);
	sign_end(text);
	keep("executor", text);
	keep("executor-2", old);
	assert_starts();
	write_events(5);
	assert_starts();
}

static void
a_log_that_was_cut_is_refused(void **unused)
{
	char text[CHECKPOINT_TEXT];

	(void)unused;
	sign_end(text);
	keep("executor-2", text);
	cut(RECORDS - 1);
	assert_refused("ends at record 19, a checkpoint says 20: restore the log, or start auditd "
		       "once with --accept-loss=20");
	cut(RECORDS - 5);
	assert_refused("ends at record 15,");
	write_events(30); /* as long again, and longer */
	assert_refused("record 20 of 45 in the audit log is not that of a checkpoint");
}

static void
a_rewritten_log_is_refused(void **unused)
{
	char text[CHECKPOINT_TEXT];

	(void)unused;
	sign_end(text);
	keep("executor", text);
	rewrite(RECORDS);
	assert_refused("record 20 of 20");
	rewrite(RECORDS + 1);
	assert_refused("record 20 of 21");
}

/* Its key went with the log. */
static void
a_new_log_with_a_new_key_is_refused(void **unused)
{
	char text[CHECKPOINT_TEXT];
	struct err e;

	(void)unused;
	sign_end(text);
	keep("executor", text);
	unlinkat(ledger_directory, "audit.key", 0);
	assert_int_equal(key_open(ledger_directory, false, &e), -1);
	assert_non_null(strstr(e.text, "--accept-new-key"));
	assert_int_equal(faccessat(ledger_directory, "audit.key", F_OK, 0), -1);
	assert_return_code(key_open(ledger_directory, true, &e), 0);
	assert_starts(); /* the log is the same */
	rewrite(3);
	assert_refused("ends at record 3, a checkpoint, signed by another key says 20");
}

static void
what_is_no_checkpoint_alarms_nobody(void **unused)
{
	static const char *const texts[] = { "", "\n", "cloister-audit-sha256-chain/00\n9\n" };
	char text[CHECKPOINT_TEXT];

	(void)unused;
	for (size_t i = 0; i < COUNT(texts); i++) {
		keep("executor", texts[i]);
		assert_starts();
	}
	sign_end(text);
	keep("validator", text); /* which does not report here */
	strstr(text, "time ")[5] = '2';
	keep("executor", text); /* half of it of an older one, after a power loss */
	cut(1);
	assert_starts();
}

static void
an_accepted_loss_is_over(void **unused)
{
	char text[CHECKPOINT_TEXT];
	uint64_t lost;
	struct err e;

	(void)unused;
	sign_end(text);
	keep("executor", text);
	cut(5);
	assert_int_equal(start(19, &lost, &e), -1);
	assert_return_code(start(20, &lost, &e), 0);
	assert_int_equal(lost, 20);
	/* As the log's own record says at the next start: that of before is not looked for. */
	assert_return_code(witness_open(ledger_path(), &e), 0);
	witness_accepted(1000);
	assert_return_code(witness_start(0, &lost, &e), 0);
	/* What is signed later is. */
	assert_return_code(witness_open(ledger_path(), &e), 0);
	witness_accepted(999);
	assert_int_equal(witness_start(0, &lost, &e), -1);
}

/* The longest is named, so that one word of the operator is enough. */
static void
of_several_the_longest_is_named(void **unused)
{
	char text[CHECKPOINT_TEXT];
	uint64_t lost;
	struct err e;

	(void)unused;
	sign_end(text);
	keep("executor", text);
	write_events(4);
	sign_end(text);
	keep("gateway", text);
	write_events(4);
	sign_end(text);
	keep("executor-2", text);
	cut(2);
	assert_refused("a checkpoint says 28");
	assert_return_code(start(28, &lost, &e), 0);
	assert_int_equal(lost, 28);
}

/* ---- the key ---- */

static void
a_key_is_made_once_and_is_nobody_elses(void **unused)
{
	uint8_t before[CHECKPOINT_PUBLIC];
	struct stat st;
	struct err e;

	(void)unused;
	memcpy(before, key_public(), sizeof before);
	assert_return_code(fstatat(ledger_directory, "audit.key", &st, 0), errno);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_return_code(key_open(ledger_directory, false, &e), 0);
	assert_memory_equal(before, key_public(), sizeof before);

	auto_fd int fd = openat(ledger_directory, "audit.key", O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(write(fd, "short", 5), 5);
	assert_int_equal(key_open(ledger_directory, false, &e), -1);
	assert_non_null(strstr(e.text, "audit.key"));
}

/* ---- verify ---- */

static int
verify_with(char *since, char *key)
{
	char log[128], option[CHECKPOINT_TEXT + 16], by[CHECKPOINT_KEY + 16];
	char *argv[] = { (char *)"--verify", log, option, by };

	snprintf(log, sizeof log, "%s/audit.log", ledger_path());
	snprintf(option, sizeof option, "--since=%s", since);
	snprintf(by, sizeof by, "--key=%s", key != NULL ? key : "");
	return verify_main(key != NULL ? 4 : 3, argv);
}

static void
verify_tells_what_became_of_a_checkpoint(void **unused)
{
	char text[CHECKPOINT_TEXT], wrong[CHECKPOINT_TEXT], key[CHECKPOINT_KEY];
	uint8_t public[CHECKPOINT_PUBLIC], secret[CHECKPOINT_SECRET];

	(void)unused;
	sign_end(text);
	memcpy(wrong, text, sizeof wrong);
	assert_int_equal(verify_with(text, NULL), VERDICT_WHOLE);
	text[strlen(text) - 1] = '\0'; /* as $(...) leaves it */
	assert_int_equal(verify_with(text, NULL), VERDICT_WHOLE);
	write_events(3);
	assert_int_equal(verify_with(text, NULL), VERDICT_WHOLE);
	crypto_sign_keypair(public, secret);
	checkpoint_key_text(public, key);
	assert_int_equal(verify_with(text, key), VERDICT_OTHER_KEY);
	assert_int_equal(verify_with(text, (char *)"none"), VERDICT_USAGE);
	strstr(wrong, "\n20\n")[1] = '1';
	assert_int_equal(verify_with(wrong, NULL), VERDICT_BAD_SIGNATURE);
	assert_int_equal(verify_with((char *)"", NULL), VERDICT_BAD_SIGNATURE);
	assert_int_equal(verify_with((char *)"@/nonexistent", NULL), VERDICT_USAGE);
	cut(RECORDS - 5);
	assert_int_equal(verify_with(text, NULL), VERDICT_TRUNCATED);
	rewrite(RECORDS);
	assert_int_equal(verify_with(text, NULL), VERDICT_REWRITTEN);
	ledger_store("CLR1", 4);
	assert_int_equal(verify_with(text, NULL), VERDICT_TRUNCATED);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(a_whole_log_starts),
		CASE(a_log_that_was_cut_is_refused),
		CASE(a_rewritten_log_is_refused),
		CASE(a_new_log_with_a_new_key_is_refused),
		CASE(what_is_no_checkpoint_alarms_nobody),
		CASE(an_accepted_loss_is_over),
		CASE(of_several_the_longest_is_named),
		CASE(a_key_is_made_once_and_is_nobody_elses),
		CASE(verify_tells_what_became_of_a_checkpoint),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
