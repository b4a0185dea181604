/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_journal.c - an audit log as a crash, a bad disk or a forger may leave it, opened again.
 *
 * Input: how many records there were (1 byte), from where on the file is spoiled (2), whether it
 * goes on behind that (1), and the bytes that stand there.  A log that is opened begins with the
 * records before that place, goes on from where it ends, and is opened again without a torn tail;
 * one that is refused is left as it is, for it is evidence.
 */
#include "auditd/journal.h"

#include "common/base/auto.h"
#include "common/base/err.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_RECORDS = 8,
	RECORD = 40,
	LINK = 64 + RECORD + HASH_BYTES,
	MOST = 1 << 16,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t shown, whole; /* records that were shown; that lie before what is spoiled */

/* Waiting for the disk shows nothing here. */
int
fsync(int fd)
{
	return fd >= 0 ? 0 : -1;
}

int
fdatasync(int fd)
{
	return fsync(fd);
}

static void
on_link(const struct chain_link *link)
{
	must(link->number == ++shown);
	if (link->number > whole)
		return;
	must(link->size == RECORD);
	for (size_t i = 0; i < RECORD; i++)
		must(link->record[i] == link->number);
}

/* Below the directory it runs in; a name is used again by each input. */
static int
make_directory(void)
{
	static int directory = -1;

	if (directory < 0) {
		must(mkdir("journal", 0700) == 0 || access("journal", W_OK) == 0);
		directory = open("journal", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	must(directory >= 0);
	return directory;
}

static size_t
load(int directory, uint8_t all[MOST])
{
	auto_fd int fd = openat(directory, "audit.log", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, all, MOST);

	must(n >= 0 && n < MOST);
	return (size_t)n;
}

static void
store(int directory, const uint8_t *all, size_t size)
{
	auto_fd int fd =
	    openat(directory, "audit.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, all, size) == (ssize_t)size);
}

/* As many records, each durable before the next. */
static size_t
make_log(uint8_t all[MOST], size_t count)
{
	struct chain_buffer buffer = { 0 };
	struct chain_end end = { 0 };
	struct err e;
	size_t size;

	for (size_t i = 1; i <= count; i++) {
		uint8_t record[RECORD];

		memset(record, (int)i, sizeof record);
		must(chain_add(&buffer, &end, i - 1, record, sizeof record, &e) == 0);
	}
	size = buffer.size;
	must(size == count * LINK);
	if (size > 0)
		memcpy(all, buffer.data, size);
	chain_buffer_clear(&buffer);
	return size;
}

static void
open_again(int directory)
{
	uint64_t before = shown, torn;
	bool wrote;
	struct err e;

	must(journal_last() == shown && journal_durable() == shown && shown >= whole);
	must(journal_add("x", 1, &e) == before + 1);
	must(journal_write(&wrote, &e) == 0 && wrote);
	journal_settle();
	journal_close();
	shown = 0;
	must(journal_open(directory, on_link, &torn, &e) == 0);
	must(torn == 0 && shown == before + 1);
	journal_close();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t all[MOST], after[MOST];
	int directory = make_directory();
	uint64_t torn;
	struct err e = { 0 };

	if (size < 4 || size > MOST / 2)
		return -1;

	size_t made = make_log(all, data[0] % (MAX_RECORDS + 1));
	size_t from = ((size_t)data[1] | (size_t)data[2] << 8) % (made + 1);
	bool goes_on = data[3] % 2 == 1 && from + size - 4 < made;

	memcpy(all + from, data + 4, size - 4);
	made = goes_on ? made : from + size - 4;
	shown = 0;
	whole = from / LINK;
	store(directory, all, made);
	unlinkat(directory, "audit.torn", 0);
	if (journal_open(directory, on_link, &torn, &e) == 0) {
		must(torn <= made);
		open_again(directory);
	} else {
		must(e.code != ERR_none && *e.text != '\0');
		must(load(directory, after) == made && memcmp(after, all, made) == 0);
	}
	return 0;
}
