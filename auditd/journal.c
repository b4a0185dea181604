/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - the file of the log, what waits to be written to it, and an index into it.
 *
 * Trusts the disk for nothing: the whole chain is followed at start, and each link is checked again
 * when it is read.  The file is opened by root before the jail, so the jailed daemon can write to
 * it but not replace it.
 */
#include "auditd/journal.h"

#include "common/auto.h"
#include "common/fdio.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "audit.log"

static struct {
	int fd;
	uint64_t size; /* bytes that are durable */
	struct chain_end durable, turned, last;
	struct chain_buffer writing, filling;
	uint64_t *index; /* where record 1, 1 + JOURNAL_STEP, 1 + 2 * JOURNAL_STEP... starts */
	size_t index_room;
	uint8_t *run;
	void (*each)(const struct chain_link *);
} journal = { .fd = -1 };

/* Entries of records that are undone are written again when their numbers are. */
static int
index_record(uint64_t number, uint64_t offset, struct err *e)
{
	size_t entry = (number - 1) / JOURNAL_STEP;

	if ((number - 1) % JOURNAL_STEP != 0)
		return 0;
	if (entry >= journal.index_room) {
		size_t room = entry * 2 + 1024;
		uint64_t *index = reallocarray(journal.index, room, sizeof(*index));

		if (index == NULL)
			return err_sys(e, "index of the log");
		journal.index = index;
		journal.index_room = room;
	}
	journal.index[entry] = offset;
	return 0;
}

/* ---- opening ---- */

static int
show_link(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	(void)self;
	if (index_record(link->number, offset, e) < 0)
		return -1;
	journal.each(link);
	return 0;
}

static int
open_file(int state, struct err *e)
{
	struct stat st;

	journal.fd = openat(state, NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (journal.fd < 0)
		return err_sys(e, "open");
	if (fstat(journal.fd, &st) < 0)
		return err_sys(e, "stat");
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return err_set(e, ERR_internal, "not a regular file of one name");

	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(journal.fd, F_OFD_SETLK, &whole) < 0)
		return err_sys(e, "lock, is another auditd writing to it?");
	/* The name must outlast a power loss as the records do. */
	if (fsync(state) < 0)
		return err_sys(e, "fsync of its folder");
	return 0;
}

static int
recover(int state, uint64_t *torn, struct err *e)
{
	struct chain_walk walk = { .fd = journal.fd, .each = show_link };

	if (chain_walk(&walk, e) < 0) {
		log_error("the log is damaged and is not appended to; move it away as evidence, "
			  "then a new one is begun",
		    LOG_S("file", NAME), LOG_E(e));
		return -1;
	}
	*torn = walk.tail;
	if (walk.tail > 0 && chain_cut(&walk, state, "audit.torn", e) < 0)
		return -1;
	journal.size = walk.offset;
	journal.durable = journal.last = walk.end;
	return 0;
}

int
journal_open(int state, void (*each)(const struct chain_link *), uint64_t *torn, struct err *e)
{
	journal.each = each;
	if (open_file(state, e) < 0 || recover(state, torn, e) < 0) {
		journal_close();
		return err_add(e, NAME);
	}
	return 0;
}

void
journal_close(void)
{
	if (journal.fd >= 0)
		close(journal.fd);
	chain_buffer_clear(&journal.writing);
	chain_buffer_clear(&journal.filling);
	free(journal.index);
	free(journal.run);
	memset(&journal, 0, sizeof(journal));
	journal.fd = -1;
}

/* ---- writing ---- */

uint64_t
journal_add(const void *record, size_t size, struct err *e)
{
	uint64_t offset = journal.size + journal.writing.size + journal.filling.size;

	if (index_record(journal.last.number + 1, offset, e) < 0 ||
	    chain_add(&journal.filling, &journal.last, journal.durable.number, record, size, e) < 0)
		return 0;
	return journal.last.number;
}

size_t
journal_filled(void)
{
	return journal.filling.size;
}

uint64_t
journal_last(void)
{
	return journal.last.number;
}

uint64_t
journal_durable(void)
{
	return journal.durable.number;
}

void
journal_turn(void)
{
	struct chain_buffer empty = journal.writing;

	must(empty.size == 0);
	journal.writing = journal.filling;
	journal.filling = empty;
	journal.turned = journal.last;
}

int
journal_write(bool *wrote, struct err *e)
{
	const struct chain_buffer *part = &journal.writing;

	*wrote = false;
	for (size_t done = 0; done < part->size;) {
		ssize_t n = pwrite(
		    journal.fd, part->data + done, part->size - done, (off_t)(journal.size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, "write");
		done += (size_t)n;
	}
	*wrote = true;
	if (fdatasync(journal.fd) < 0)
		return err_sys(e, "fdatasync");
	return 0;
}

void
journal_settle(void)
{
	journal.size += journal.writing.size;
	journal.durable = journal.turned;
	journal.writing.size = 0;
}

int
journal_undo(struct err *e)
{
	journal.writing.size = journal.filling.size = 0;
	journal.last = journal.durable;
	if (ftruncate(journal.fd, (off_t)journal.size) < 0)
		return err_sys(e, "cut what could not be written");
	return 0;
}

/* ---- reading ---- */

const uint8_t *
journal_read(uint64_t number, size_t *size, struct err *e)
{
	must(number >= 1 && number <= journal.durable.number);

	size_t entry = (number - 1) / JOURNAL_STEP;
	uint64_t start = journal.index[entry], end = journal.size;

	if ((entry + 1) * JOURNAL_STEP < journal.durable.number)
		end = journal.index[entry + 1];

	uint8_t *run = realloc(journal.run, end - start);

	if (run == NULL) {
		err_sys(e, "read the log");
		return NULL;
	}
	journal.run = run;

	ssize_t n = pread(journal.fd, run, end - start, (off_t)start);

	if (n < 0 || (uint64_t)n < end - start) {
		err_sys(e, "read the log at byte %" PRIu64, start);
		return NULL;
	}
	*size = end - start;
	return run;
}
