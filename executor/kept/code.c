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
	SHARES = 4, /* one owner has at most this part of all */
};

static int base = -1;
static uint64_t held; /* bytes of all, as of the last sweep and what came since */
static uint64_t timer;

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

static void
sweep_one(int directory, const char *name, void *self)
{
	uint64_t *bytes = self;
	struct stat is;

	if (fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (is_too_old(&is))
		unlinkat(directory, name, 0);
	else
		*bytes += (uint64_t)is.st_size;
}

static void
sweep(void *self)
{
	uint64_t bytes = 0;

	(void)self;
	owner_directory_walk_all(base, DIRECTORY, sweep_one, &bytes);
	held = bytes;
	timer = options.keep_code > 0 ? loop_after(SWEEP_MS, sweep, NULL) : 0;
}

void
code_open(int state)
{
	loop_unset(timer);
	base = state;
	sweep(NULL);
}

struct found {
	uint64_t bytes;
	struct timespec when;
	char oldest[ID];
	uint64_t oldest_bytes;
};

static void
look_at(int directory, const char *name, void *self)
{
	struct found *found = self;
	struct stat is;

	if (!is_id(name) || fstatat(directory, name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	found->bytes += (uint64_t)is.st_size;
	if (found->oldest[0] != '\0' && (is.st_mtim.tv_sec > found->when.tv_sec ||
					    (is.st_mtim.tv_sec == found->when.tv_sec &&
						is.st_mtim.tv_nsec >= found->when.tv_nsec)))
		return;
	found->when = is.st_mtim;
	found->oldest_bytes = (uint64_t)is.st_size;
	memcpy(found->oldest, name, strlen(name) + 1);
}

/* Drops the owner's oldest until it may keep so much more; false: others hold all. */
static bool
make_room(int directory, uint64_t size)
{
	uint64_t most = options.keep_code_bytes;

	while (held + size > most / SHARES) { /* before that, nobody has too much */
		struct found found = { 0 };
		int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (copy < 0)
			return false;
		owner_directory_walk(copy, look_at, &found);
		if (held + size <= most && found.bytes + size <= most / SHARES)
			return true;
		if (found.oldest[0] == '\0' || unlinkat(directory, found.oldest, 0) < 0)
			return false;
		held -= found.oldest_bytes < held ? found.oldest_bytes : held;
	}
	return true;
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
create(const struct owner *owner, const char *id, uint64_t size, struct err *e)
{
	auto_fd int directory = owner_directory_make(base, DIRECTORY, owner, e);

	if (directory < 0)
		return -1;
	if (!make_room(directory, size))
		return err_set(e, ERR_disk_full, "keep_code_bytes: no room for %s", id);

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
	if ((fd = create(owner, execution_id, code->size, &e)) < 0) {
		log_warn("the code of a run was not kept", LOG_E(&e));
		return;
	}
	k = calloc(1, sizeof *k);
	must(k != NULL);
	*k = (struct keeping){ .work = { .run = write_code, .done = written }, .fd = fd };
	k->code = blob_copy(code->data, code->size);
	must(k->code.data != NULL);
	held += code->size;
	work_over(&k->work, code->size);
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
