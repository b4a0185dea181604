/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - writes a test's audit log record by record, and changes its file on the disk. */
#include "tests/unit/ledger.h"

#include "auditd/journal.h"
#include "auditd/logfile.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/codec/wire.h"
#include "common/crypto/seal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char path[64];
int ledger_directory = -1;
static uint64_t shown; /* the last link that journal_open() showed */

static void
show(const struct chain_link *link)
{
	uint64_t first = shown + 1, last = shown;

	if (link->number != shown + 1)
		assert_true(journal_removed(shown + 1, &first, &last));
	shown = link->number;
	assert_int_equal(shown, last + 1);
}

int
ledger_open(uint64_t *torn, struct err *e)
{
	shown = 0;
	return journal_open(ledger_directory, show, torn, e);
}

void
ledger_reopen(uint64_t records, uint64_t torn_bytes)
{
	uint64_t torn = 0;
	struct err e;

	journal_close();
	assert_return_code(ledger_open(&torn, &e), 0);
	assert_int_equal(journal_durable(), records);
	assert_int_equal(journal_last(), records);
	assert_int_equal(shown, records);
	assert_int_equal(torn, torn_bytes);
}

void
ledger_add(uint64_t number)
{
	char text[32];
	struct err e;

	snprintf(text, sizeof(text), "record %" PRIu64, number);
	assert_int_equal(journal_add(text, strlen(text), &e), number);
}

void
ledger_commit(void)
{
	bool wrote;
	struct err e;

	assert_return_code(journal_write(&wrote, &e), 0);
	assert_true(wrote);
	journal_settle();
}

void
ledger_commit_all(void)
{
	while (journal_filled() > 0)
		ledger_commit();
}

void
ledger_write(uint64_t first, uint64_t last)
{
	for (uint64_t n = first; n <= last; n++) {
		ledger_add(n);
		ledger_commit();
	}
}

uint64_t
ledger_torn(const struct blob *all, size_t from, size_t to)
{
	while (to > from && ((const char *)all->data)[to - 1] == 0)
		to--;
	return to - from;
}

struct blob
ledger_load(void)
{
	auto_fd int fd = openat(ledger_directory, "audit.log", O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct blob all;

	assert_return_code(fstat(fd, &st), 0);
	all.size = (size_t)st.st_size;
	all.data = malloc(all.size);
	assert_int_equal(read(fd, all.data, all.size), all.size);

	struct chain_link link;
	size_t at = 0;

	for (ssize_t n; (n = chain_parse((uint8_t *)all.data + at, all.size - at, &link)) > 0;)
		at += (size_t)n;
	if (ledger_torn(&all, at, all.size) == 0)
		all.size = at;
	return all;
}

void
ledger_store(const void *data, size_t size)
{
	auto_fd int fd = openat(ledger_directory, "audit.log", O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(write(fd, data, size), size);
}

size_t
ledger_place(const struct blob *all, uint64_t n)
{
	size_t at = 0;
	struct chain_link link;

	for (; n > 1; n--) {
		ssize_t size = chain_parse((const uint8_t *)all->data + at, all->size - at, &link);

		assert_true(size > 0);
		at += (size_t)size;
	}
	return at;
}

int
ledger_set_up(void **unused)
{
	uint64_t torn;
	struct err e;

	(void)unused;
	snprintf(path, sizeof(path), "/tmp/test-audit-XXXXXX");
	assert_non_null(mkdtemp(path));
	ledger_directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(ledger_open(&torn, &e), 0);
	return 0;
}

void
ledger_remove_segments(void)
{
	auto_free uint64_t *firsts = NULL;
	char name[LOGFILE_NAME];
	size_t count;
	struct err e;

	assert_return_code(logfile_list(ledger_directory, &firsts, &count, &e), 0);
	for (size_t i = 0; i < count; i++) {
		logfile_name(firsts[i], name);
		unlinkat(ledger_directory, name, 0);
	}
}

int
ledger_tear_down(void **unused)
{
	(void)unused;
	journal_close();
	ledger_remove_segments();
	unlinkat(ledger_directory, "audit.log", 0);
	unlinkat(ledger_directory, "audit.next", 0);
	unlinkat(ledger_directory, "audit.torn", 0);
	unlinkat(ledger_directory, "audit.key", 0);
	unlinkat(ledger_directory, "audit.pub", 0);
	close(ledger_directory);
	return rmdir(path);
}

const char *
ledger_path(void)
{
	return path;
}

void
ledger_sign(const struct checkpoint *c, char text[CHECKPOINT_TEXT])
{
	uint8_t seed[SEAL_KEY_BYTES], public[CHECKPOINT_PUBLIC], secret[CHECKPOINT_SECRET];
	struct blob key = { 0 };
	struct err e;

	assert_return_code(fdio_load(ledger_directory, "audit.key", SEAL_KEY, &key, &e), 0);
	assert_return_code(seal_decode("key", key.data, seed, sizeof seed, &e), 0);
	blob_clear(&key);
	crypto_sign_seed_keypair(public, secret, seed);
	checkpoint_sign(c, secret, text);
}

void
ledger_add_event(const char *daemon, struct audit_event *event)
{
	uint8_t record[CHAIN_RECORD_MAX];
	struct packed packed;
	struct err e;
	int name = snprintf((char *)record, sizeof record, "%c%s", (int)strlen(daemon), daemon);

	assert_return_code(wire_encode(MSG_audit_event, event, &packed, &e), 0);
	memcpy(record + name, packed.body.data, packed.body.size);
	assert_true(journal_add(record, (size_t)name + packed.body.size, &e) > 0);
	packed_clear(&packed);
}
