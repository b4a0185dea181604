/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - files of code; the id of a read comes from a client, and is checked before it becomes a
 * name.
 *
 * Nothing is synced: after a crash of the machine the newest may be missing, which is told as "not
 * kept".
 */
#include "executor/kept/code.h"

#include "executor/kept/owner_directory.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/work.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY "code"
#define PREFIX    "exec_"

enum {
	ID = 64,
	FILE_BYTES = 1 << 20,
	SWEEP_MS = 600000,
	SWEEP_FILES = 64, /* a sweep comes after so many files, */
	SWEEP_PART = 16,  /* or after this part of all bytes */
	SHARES = 4,       /* one owner has at most this part of all */
	OWNER_FILES = 16384,
	BLOCK = 4096, /* of the disk, that a file takes at least */
};

static int base = -1;
static uint64_t timer;
static unsigned unseen; /* files since the last sweep */
static uint64_t unseen_bytes;

/* ---- names ---- */

static bool
is_id(const char *id)
{
	size_t size = strlen(id), prefix = strlen(PREFIX);

	return strncmp(id, PREFIX, prefix) == 0 && size > prefix && size < ID &&
	       strspn(id + prefix, "0123456789abcdef") == size - prefix;
}

static bool
is_too_old(const struct stat *is)
{
	return options.keep_code == 0 ||
	       is->st_mtime < (int64_t)time(NULL) - (int64_t)options.keep_code * 3600;
}

/* ---- what goes ---- */

struct kept_file {
	struct timespec when;
	uint64_t bytes;
	char name[ID];
};

struct files {
	struct kept_file *items;
	size_t count;
};

static void
add_file(int directory, const char *name, void *self)
{
	struct files *files = self;
	struct kept_file *more;
	struct stat is;

	if (!is_id(name) || fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (is_too_old(&is)) {
		unlinkat(directory, name, 0);
		return;
	}
	if ((more = reallocarray(files->items, files->count + 1, sizeof *more)) == NULL)
		return;
	files->items = more;
	more += files->count++;
	*more = (struct kept_file){ is.st_mtim, ((uint64_t)is.st_size + BLOCK - 1) / BLOCK * BLOCK,
		{ 0 } };
	memcpy(more->name, name, strlen(name) + 1);
}

static int
newer_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct kept_file *)a)->when;
	const struct timespec *y = &((const struct kept_file *)b)->when;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

/* Keeps the newest files of an owner, up to its share. */
static void
prune(int directory, void *self)
{
	const uint64_t *share = self;
	struct files files = { 0 };
	uint64_t bytes = 0;
	auto_fd int own = fcntl(directory, F_DUPFD_CLOEXEC, 3);

	owner_directory_walk(directory, add_file, &files);
	if (files.count > 0)
		qsort(files.items, files.count, sizeof *files.items, newer_first);
	for (size_t i = 0; i < files.count; i++)
		if ((bytes += files.items[i].bytes) > *share || i >= OWNER_FILES)
			unlinkat(own, files.items[i].name, 0);
	free(files.items);
}

static void
count_owner(int directory, void *self)
{
	*(uint64_t *)self += 1;
	close(directory);
}

/* In any thread. */
static void
sweep_all(void)
{
	uint64_t owners = 0, share;

	owner_directory_each(base, DIRECTORY, count_owner, &owners);
	share = options.keep_code_bytes / (owners > SHARES ? owners : SHARES);
	owner_directory_each(base, DIRECTORY, prune, &share);
}

static void
sweep(struct work *work)
{
	(void)work;
	sweep_all();
}

static void begin_sweep(void *self);

static void
swept(struct work *work)
{
	free(work);
	if (options.keep_code > 0 && timer == 0)
		timer = loop_after(SWEEP_MS, begin_sweep, NULL);
}

static void
begin_sweep(void *self)
{
	struct work *work = calloc(1, sizeof *work);

	(void)self;
	loop_unset(timer);
	timer = 0;
	unseen = 0;
	unseen_bytes = 0;
	must(work != NULL);
	*work = (struct work){ .run = sweep, .done = swept };
	work_do(work);
}

void
code_open(int state)
{
	loop_unset(timer);
	timer = 0;
	base = state;
	sweep_all();
	if (options.keep_code > 0 && state >= 0)
		timer = loop_after(SWEEP_MS, begin_sweep, NULL);
}

/* ---- keeping ---- */

struct keeping {
	struct work work;
	int fd;
	struct blob code;
	struct err e;
};

static void
write_code(struct work *work)
{
	struct keeping *k = (struct keeping *)work;

	k->e.code = ERR_none;
	fdio_write(k->fd, k->code.data, k->code.size, &k->e);
}

static void
written(struct work *work)
{
	struct keeping *k = (struct keeping *)work;

	if (k->e.code != ERR_none)
		log_warn("the code of a run was not kept", LOG_E(&k->e));
	close(k->fd);
	blob_clear(&k->code);
	free(k);
}

static int
create(const struct owner *owner, const char *id, struct err *e)
{
	auto_fd int directory = owner_directory_make(base, DIRECTORY, owner, e);

	if (directory < 0)
		return -1;

	int fd = openat(directory, id, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(e, "make %s", id) : fd;
}

void
code_keep(const struct owner *owner, const char *execution_id, const struct blob *code)
{
	struct keeping *k;
	struct err e;
	int fd;

	if (options.keep_code == 0 || base < 0 || code->size == 0 ||
	    code->size > options.keep_code_bytes / SHARES)
		return;
	if ((fd = create(owner, execution_id, &e)) < 0) {
		log_warn("the code of a run was not kept", LOG_E(&e));
		return;
	}
	k = calloc(1, sizeof *k);
	must(k != NULL);
	*k = (struct keeping){ .work = { .run = write_code, .done = written }, .fd = fd };
	k->code = blob_copy(code->data, code->size);
	must(k->code.data != NULL);
	work_over(&k->work, code->size);
	unseen_bytes += code->size;
	if (++unseen >= SWEEP_FILES || unseen_bytes > options.keep_code_bytes / SWEEP_PART)
		begin_sweep(NULL);
}

int
code_load(const struct owner *owner, const char *execution_id, struct blob *code, struct err *e)
{
	auto_fd int directory =
	    is_id(execution_id) ? owner_directory_open(base, DIRECTORY, owner) : -1;
	struct stat is;

	if (directory < 0 || fstatat(directory, execution_id, &is, AT_SYMLINK_NOFOLLOW) < 0 ||
	    is_too_old(&is))
		return err_set(e, ERR_not_found,
		    "the code of %.64s is not kept; the executor's setting keep_code says for how "
		    "many hours it is",
		    execution_id);
	return fdio_load(directory, execution_id, FILE_BYTES, code, e);
}
