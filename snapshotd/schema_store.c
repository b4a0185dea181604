/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_store.c - the directory schemas/<owner>/<name>; a file is one line of JSON that describes
 * the schema, then the schema's own text.
 *
 * Trusts the kernel's rename and fsync, and no name or byte that it finds.  A name is checked by
 * schemas_is_name(): it has no slash, and a draft of fdio_store() has no such name.
 */
#include "snapshotd/schema_store.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/codec/jschema.h"
#include "common/table/schemas.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	MAX_LINE = 16384, /* the description has at most 1024 bytes, each at most \u0000 */
	FILE_MODE = 0400,
};

static int schemas_fd = -1;

/* ---- directories ---- */

static int
sync_directory(int fd, struct err *e)
{
	return fsync(fd) < 0 ? err_sys(e, "fsync a directory of schemas") : 0;
}

/* The directory of an owner; -1 with not_found if it has none. */
static int
open_owner(const char *owner, struct err *e)
{
	return fdio_open_beneath(schemas_fd, owner, O_RDONLY | O_DIRECTORY, 0, e);
}

static int
make_owner(const char *owner, struct err *e)
{
	if (mkdirat(schemas_fd, owner, 0700) == 0 ? sync_directory(schemas_fd, e) < 0
						  : errno != EEXIST)
		return err_sys(e, "mkdir a directory of schemas");
	return open_owner(owner, e);
}

/* Calls visit for each name but those of drafts, which are removed if that is asked for. */
static int
each_name(int fd, bool remove_drafts, void *self,
    int (*visit)(void *self, int directory, const char *name, struct err *), struct err *e)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (dir == NULL)
		return err_sys(e, "a directory of schemas");
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, FDIO_DRAFT, strlen(FDIO_DRAFT)) == 0) {
			if (remove_drafts && unlinkat(fd, entry->d_name, 0) < 0)
				return err_sys(e, "unlink a draft");
		} else if (entry->d_name[0] != '.' && visit(self, fd, entry->d_name, e) < 0)
			return -1;
	}
	return errno == 0 ? 0 : err_sys(e, "read a directory of schemas");
}

static int
see_nothing(void *self, int directory, const char *name, struct err *e)
{
	(void)self, (void)directory, (void)name, (void)e;
	return 0;
}

static int
see_owner(void *self, int directory, const char *name, struct err *e)
{
	auto_fd int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && hash_is_hex(name))
		return each_name(fd, true, self, see_nothing, e);
	log_warn("the store of schemas ignores what is not its own", LOG_S("name", name));
	return 0;
}

int
schema_store_open(int state, struct err *e)
{
	auto_fd int above = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	schemas_fd = fdio_directory(state, "schemas", 0700, e);
	if (schemas_fd < 0 || each_name(schemas_fd, false, NULL, see_owner, e) < 0)
		return err_add(e, "schemas");
	return above < 0 ? err_sys(e, "the state directory") : sync_directory(above, e);
}

void
schema_store_close(void)
{
	if (schemas_fd >= 0)
		close(take_fd(&schemas_fd));
}

/* ---- a file ---- */

int
schema_store_put(const char *owner, const struct registered_schema *about,
    const struct blob *schema, struct err *e)
{
	auto_fd int directory = make_owner(owner, e);
	json_t *value = jschema_write(MSG_registered_schema, about);
	auto_free char *line = value != NULL ? json_dumps(value, JSON_COMPACT) : NULL;
	size_t size = line != NULL ? strlen(line) + 1 + schema->size : 0;
	auto_free char *file = malloc(size + 1);

	json_decref(value);
	if (directory < 0)
		return -1;
	if (line == NULL || file == NULL)
		return err_sys(e, "schema");
	memcpy(mempcpy(stpcpy(file, line), "\n", 1), schema->data, schema->size);
	return fdio_store(directory, about->name, file, size, FILE_MODE, e);
}

static int
damaged(const char *name, struct err *e)
{
	return err_set(e, ERR_schema_invalid,
	    "the file of the schema %.64s is damaged; register it again with replace, or remove it",
	    name);
}

/* Returns the size of the first line, or 0 if it does not describe the schema of that name. */
static size_t
read_line(
    const char *text, size_t size, const char *name, struct registered_schema *about, struct err *e)
{
	const char *end = memchr(text, '\n', size);
	json_t *value = end != NULL ? json_loadb(text, (size_t)(end - text), 0, NULL) : NULL;
	bool good = value != NULL && jschema_read(MSG_registered_schema, value, about, e) == 0 &&
	            about->sha256 != NULL && strcmp(about->name, name) == 0;

	json_decref(value);
	if (good)
		return (size_t)(end - text) + 1;
	message_clear(MSG_registered_schema, about);
	return 0;
}

static int
read_about(int fd, const char *name, struct registered_schema *about, struct err *e)
{
	struct stat st;
	char text[MAX_LINE];

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat a schema");

	size_t size = st.st_size < MAX_LINE ? (size_t)st.st_size : MAX_LINE;

	if (fdio_read(fd, text, size, e) < 0)
		return -1;
	return read_line(text, size, name, about, e) > 0 ? 0 : damaged(name, e);
}

static int
read_all(
    int fd, const char *name, struct registered_schema *about, struct blob *schema, struct err *e)
{
	struct blob file = { 0 };
	char digest[HASH_HEX];

	if (fdio_load_open(fd, name, MAX_LINE + SCHEMA_MAX_BYTES, &file, e) < 0)
		return -1;

	size_t line = read_line(file.data, file.size, name, about, e);

	if (line > 0) {
		hash_hex((char *)file.data + line, file.size - line, digest);
		*schema = strcmp(digest, about->sha256) == 0
		              ? blob_copy((char *)file.data + line, file.size - line)
		              : (struct blob){ 0 };
	}
	blob_clear(&file);
	return schema->data != NULL ? 0 : damaged(name, e);
}

int
schema_store_get(const char *owner, const char *name, struct registered_schema *about,
    struct blob *schema, struct err *e)
{
	auto_fd int directory = schemas_is_name(name) ? open_owner(owner, e) : -1;
	auto_fd int fd = directory >= 0 ? fdio_open_beneath(directory, name, O_RDONLY, 0, e) : -1;

	if (!schemas_is_name(name))
		return err_set(e, ERR_not_found, "no schema has such a name");
	if (fd < 0)
		return -1;
	return schema != NULL ? read_all(fd, name, about, schema, e)
	                      : read_about(fd, name, about, e);
}

int
schema_store_remove(const char *owner, const char *name, struct err *e)
{
	auto_fd int directory = schemas_is_name(name) ? open_owner(owner, e) : -1;

	if (!schemas_is_name(name))
		return err_set(e, ERR_not_found, "no schema has such a name");
	if (directory < 0)
		return -1;
	if (unlinkat(directory, name, 0) < 0)
		return errno == ENOENT ? err_set(e, ERR_not_found, "no schema has that name")
		                       : err_sys(e, "unlink a schema");
	return sync_directory(directory, e);
}

/* ---- all ---- */

/* A damaged file counts with all its bytes. */
static int
add_damaged(int directory, const char *name, struct registered_schema *about, struct err *e)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, "stat a schema");
	*about = (struct registered_schema){
		.name = strdup(name), .size = (uint64_t)st.st_size, .damaged = true
	};
	return about->name != NULL ? 0 : err_sys(e, "schemas");
}

/* What was never there, or was removed meanwhile, is no error. */
static int
absent(const struct err *why, struct err *e)
{
	if (why->code == ERR_not_found)
		return 0;
	*e = *why;
	return -1;
}

static int
see_schema(void *self, int directory, const char *name, struct err *e)
{
	struct schema_list *all = self;
	struct err why = { 0 };
	auto_fd int fd = fdio_open_beneath(directory, name, O_RDONLY | O_NONBLOCK, 0, &why);

	if (!schemas_is_name(name))
		return 0;
	if (fd < 0)
		return absent(&why, e);

	struct registered_schema *about = list_add(&all->schemas, sizeof *about);

	if (about == NULL)
		return err_sys(e, "schemas");
	return read_about(fd, name, about, &why) == 0 ? 0 : add_damaged(directory, name, about, e);
}

static int
by_name(const void *a, const void *b)
{
	const struct registered_schema *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int
schema_store_list(const char *owner, struct schema_list *all, struct err *e)
{
	struct err why = { 0 };
	auto_fd int directory = open_owner(owner, &why);

	if (directory < 0)
		return absent(&why, e);
	if (each_name(directory, false, all, see_schema, e) < 0)
		return -1;
	if (all->schemas.count > 0)
		qsort(all->schemas.items, all->schemas.count, sizeof(struct registered_schema),
		    by_name);
	return 0;
}
