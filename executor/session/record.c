/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - records in a sealed memory file.  Trusts the process that kept it to return it
 * unchanged, but not that this build wrote it.
 */
#include "executor/session/record.h"

#include "common/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	RECORDS = 1024, /* max_sessions is less */
	LAYOUT = 1,     /* of struct record; its size is checked, too */
};

struct table {
	char magic[16];
	uint32_t layout, size;
	_Atomic uint32_t used[RECORDS]; /* separate: unused records need no memory */
	struct record records[RECORDS];
};

static const char magic[16] = "cloister session";
static struct table *table;

static int
map(int fd, struct err *e)
{
	void *at = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return err_sys(e, "map the table of sessions");
	if (table != NULL)
		munmap(table, sizeof *table);
	table = at;
	return 0;
}

int
record_make(struct err *e)
{
	auto_fd int fd = memfd_create("cloister-sessions", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, sizeof *table) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return err_sys(e, "make the table of sessions");
	if (map(fd, e) < 0)
		return -1;
	memcpy(table->magic, magic, sizeof magic);
	table->layout = LAYOUT;
	table->size = sizeof *table;
	return take_fd(&fd);
}

static bool
ends(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

static bool
is_whole(const struct record *r)
{
	return ends(r->id, sizeof r->id) && ends(r->owner.principal, sizeof r->owner.principal) &&
	       ends(r->owner.namespace, sizeof r->owner.namespace) &&
	       ends(r->namespace, sizeof r->namespace) && ends(r->profile, sizeof r->profile) &&
	       ends(r->domains, sizeof r->domains) && ends(r->language, sizeof r->language) &&
	       ends(r->environment, sizeof r->environment) && ends(r->parent, sizeof r->parent) &&
	       r->owner.principal[0] != 0 && r->workspace != 0 && session_id_formed(r->id);
}

int
record_take(int fd, struct err *e)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) < 0 ||
	    st.st_size != (off_t)sizeof *table)
		return err_set(e, ERR_internal, "the table of sessions is from another build");
	if (map(fd, e) < 0)
		return -1;

	bool good = memcmp(table->magic, magic, sizeof magic) == 0 && table->layout == LAYOUT &&
	            table->size == sizeof *table;

	for (struct record *r = NULL; good && (r = record_next(r)) != NULL;)
		good = is_whole(r);
	if (good)
		return 0;
	munmap(take_ptr(table), sizeof *table);
	return err_set(e, ERR_internal, "the table of sessions is from another build");
}

struct record *
record_new(void)
{
	for (size_t i = 0; table != NULL && i < RECORDS; i++)
		if (atomic_load(&table->used[i]) == 0) {
			memset(&table->records[i], 0, sizeof table->records[i]);
			return &table->records[i];
		}
	return NULL;
}

void
record_commit(struct record *r)
{
	atomic_store(&table->used[r - table->records], 1);
}

void
record_free(struct record *r)
{
	if (r != NULL)
		atomic_store(&table->used[r - table->records], 0);
}

struct record *
record_next(struct record *r)
{
	size_t i = r == NULL ? 0 : (size_t)(r - table->records) + 1;

	for (; table != NULL && i < RECORDS; i++)
		if (atomic_load(&table->used[i]) != 0)
			return &table->records[i];
	return NULL;
}

bool
record_text(char *to, size_t size, const char *from)
{
	size_t length = from == NULL ? 0 : strlen(from);

	if (length >= size)
		return false;
	to[0] = 0;
	atomic_signal_fence(memory_order_seq_cst);
	if (length == 0)
		return true;
	memcpy(to + 1, from + 1, length);
	atomic_signal_fence(memory_order_seq_cst);
	to[0] = from[0];
	return true;
}
