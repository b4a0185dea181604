/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.c - the log file, the records that wait to be written, and an index of the file.
 *
 * Does not trust the disk: the start follows the whole chain, and each link is checked again when
 * it is read.  Root opens the file before the jail, so the jailed daemon can write to it but cannot
 * replace it.
 */
#include "auditd/journal.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define NAME "audit.log"

enum { ROOM = 256 << 10 }; /* bytes preallocated at a time */

/* A position in the log, as a link and as a byte offset. */
struct mark {
	struct chain_end end;
	uint64_t size;
};

static struct {
	int fd;
	struct mark durable, last; /* the durable end, and the end of what was added */
	/* Under the lock: what waits for the disk, and how far the disk has taken it. */
	pthread_mutex_t lock;
	struct chain_buffer filling;
	struct mark filled, written;
	/* Used only inside journal_write(). */
	struct chain_buffer writing;
	uint64_t room_end; /* the file is at least this long */
	uint64_t *index;   /* where records 1, 1 + JOURNAL_STEP, 1 + 2 * JOURNAL_STEP... start */
	size_t index_room;
	uint8_t *run;
	void (*each)(const struct chain_link *);
} journal = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* Entries of undone records are overwritten when their numbers are used again. */
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

/*
 * Makes what is read from now on durable.  A process that was killed before its fdatasync left
 * records in memory only.  After a failed fdatasync, the kernel shows data that the disk lacks.
 */
static int
forget_memory(uint64_t size, struct err *e)
{
	uint64_t from = size > CHAIN_TAIL_MAX ? size - CHAIN_TAIL_MAX : 0;

	if (fdatasync(journal.fd) < 0)
		return err_sys(e, "fdatasync");
	/* A file system without a page cache ignores this. */
	posix_fadvise(journal.fd, (off_t)from, 0, POSIX_FADV_DONTNEED);
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
		return err_set(
		    e, ERR_internal, "not a regular file, or has more than one hard link");

	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(journal.fd, F_OFD_SETLK, &whole) < 0)
		return err_sys(e, "lock, is another auditd writing to it?");
	if (forget_memory((uint64_t)st.st_size, e) < 0)
		return -1;
	/* The name must survive a power loss, like the records. */
	if (fsync(state) < 0)
		return err_sys(e, "fsync of its directory");
	return 0;
}

static int
recover(int state, uint64_t *torn, struct err *e)
{
	struct chain_walk walk = { .fd = journal.fd, .each = show_link };

	if (chain_walk(&walk, e) < 0) {
		log_error("the log is damaged and auditd does not append to it; move it away as "
			  "evidence, then auditd starts a new one",
		    LOG_S("file", NAME), LOG_E(e));
		return -1;
	}
	*torn = walk.tail;
	if (walk.tail > 0)
		log_warn("the log ends with bytes that are no whole record; they are moved away",
		    LOG_S("file", NAME), LOG_S("to", "audit.torn"), LOG_N("bytes", walk.tail));
	if (chain_cut(&walk, state, "audit.torn", e) < 0)
		return -1;
	journal.durable = (struct mark){ walk.end, walk.offset };
	journal.last = journal.filled = journal.written = journal.durable;
	journal.room_end = walk.offset;
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
	if (journal.room_end > journal.durable.size &&
	    ftruncate(journal.fd, (off_t)journal.durable.size) < 0)
		log_warn("cut the preallocated bytes off the log", LOG_S("error", strerror(errno)));
	if (journal.fd >= 0)
		close(journal.fd);
	chain_buffer_clear(&journal.writing);
	chain_buffer_clear(&journal.filling);
	free(journal.index);
	free(journal.run);
	journal = (typeof(journal)){ .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* ---- writing ---- */

static int
add(const void *record, size_t size, struct err *e)
{
	struct chain_buffer *part = &journal.filling;
	size_t before = part->size;

	if (chain_add(part, &journal.last.end, journal.durable.end.number, record, size, e) < 0)
		return -1;
	journal.last.size += part->size - before;
	journal.filled = journal.last;
	return 0;
}

uint64_t
journal_add(const void *record, size_t size, struct err *e)
{
	if (index_record(journal.last.end.number + 1, journal.last.size, e) < 0)
		return 0;
	pthread_mutex_lock(&journal.lock);

	int status = add(record, size, e);

	pthread_mutex_unlock(&journal.lock);
	return status < 0 ? 0 : journal.last.end.number;
}

size_t
journal_filled(void)
{
	pthread_mutex_lock(&journal.lock);

	size_t size = journal.filling.size;

	pthread_mutex_unlock(&journal.lock);
	return size;
}

uint64_t
journal_last(void)
{
	return journal.last.end.number;
}

uint64_t
journal_durable(void)
{
	return journal.durable.end.number;
}

const struct chain_end *
journal_end(void)
{
	return &journal.durable.end;
}

/* Swaps the two buffers.  Returns the file offset where the new one starts. */
static uint64_t
turn(struct mark *filled)
{
	struct chain_buffer empty = journal.writing;

	empty.size = 0;
	pthread_mutex_lock(&journal.lock);
	journal.writing = journal.filling;
	journal.filling = empty;
	*filled = journal.filled;
	pthread_mutex_unlock(&journal.lock);
	return filled->size - journal.writing.size;
}

static int
write_part(uint64_t start, struct err *e)
{
	const struct chain_buffer *part = &journal.writing;

	for (size_t done = 0; done < part->size;) {
		ssize_t n =
		    pwrite(journal.fd, part->data + done, part->size - done, (off_t)(start + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, "write");
		done += (size_t)n;
	}
	return 0;
}

/*
 * Writes zeros ahead of the records.  While the file does not grow, fdatasync need not write its
 * inode, which takes up to half of its time.  A disk without room for the zeros is no failure.
 */
static void
make_room(uint64_t end)
{
	static const uint8_t zeros[ROOM];

	if (end <= journal.room_end)
		return;

	ssize_t n = pwrite(journal.fd, zeros, sizeof(zeros), (off_t)end);

	journal.room_end = end + (n > 0 ? (uint64_t)n : 0);
}

/* A removed file is lost with its last descriptor, even if all of it is on the disk. */
static int
check_name(struct err *e)
{
	struct stat st;

	if (fstat(journal.fd, &st) < 0)
		return err_sys(e, "stat");
	if (st.st_nlink > 0)
		return 0;
	errno = ENOENT;
	return err_sys(e, "somebody removed " NAME);
}

int
journal_write(bool *wrote, struct err *e)
{
	struct mark filled;
	uint64_t start = turn(&filled);

	*wrote = false;
	if (write_part(start, e) < 0)
		return -1;
	make_room(filled.size);
	*wrote = true;
	if (fdatasync(journal.fd) < 0)
		return err_sys(e, "fdatasync");
	if (check_name(e) < 0)
		return -1;
	pthread_mutex_lock(&journal.lock);
	journal.written = filled;
	pthread_mutex_unlock(&journal.lock);
	return 0;
}

void
journal_settle(void)
{
	pthread_mutex_lock(&journal.lock);
	journal.durable = journal.written;
	pthread_mutex_unlock(&journal.lock);
}

int
journal_undo(struct err *e)
{
	pthread_mutex_lock(&journal.lock);
	journal.filling.size = 0;
	journal.last = journal.filled = journal.written = journal.durable;
	pthread_mutex_unlock(&journal.lock);
	journal.room_end = journal.durable.size;
	if (ftruncate(journal.fd, (off_t)journal.durable.size) < 0)
		return err_sys(e, "truncate the log to its durable size");
	return 0;
}

/* ---- reading ---- */

const uint8_t *
journal_read(uint64_t number, size_t *size, struct err *e)
{
	must(number >= 1 && number <= journal.durable.end.number);

	size_t entry = (number - 1) / JOURNAL_STEP;
	uint64_t start = journal.index[entry], end = journal.durable.size;

	if ((entry + 1) * JOURNAL_STEP < journal.durable.end.number)
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

int
journal_seal(uint64_t number, uint8_t seal[HASH_BYTES], struct err *e)
{
	size_t left;
	const uint8_t *run = journal_read(number, &left, e);
	struct chain_link link;

	for (ssize_t n; run != NULL && (n = chain_parse(run, left, &link)) > 0; run += n) {
		if (link.number == number) {
			memcpy(seal, link.seal, HASH_BYTES);
			return 0;
		}
		left -= (size_t)n;
	}
	return run == NULL ? -1 : err_set(e, ERR_internal, "record %" PRIu64 " is damaged", number);
}
