/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - the files of the records.
 *
 * Trusts the names and the contents of its own directory only as far as the hash goes: it finds
 * accidents, not an attacker with the daemon's uid.
 */
#include "executor/approvald/store.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/codec/wire.h"
#include "executor/approvald/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILE_BYTES = 16384,
	ID = 16,
};

static struct {
	int directory;
	struct approval **items;
	size_t count;
} store = { .directory = -1 };

static void
record_free(struct approval *a)
{
	if (a == NULL)
		return;
	message_clear(MSG_approval, a);
	free(a);
}

/* ---- files ---- */

static int
write_file(const struct approval *a, struct err *e)
{
	struct approval copy = *a;
	struct packed packed = { 0 };
	auto_free char *bytes = NULL;
	struct blob body = { 0 };
	struct hash h;
	int status = wire_encode(MSG_approval, &copy, &packed, e);

	if (status == 0)
		status = wire_flatten(&packed, &body, e);
	packed_clear(&packed);
	if (status == 0 && (bytes = malloc(body.size + HASH_BYTES)) == NULL)
		status = err_sys(e, "record");
	if (bytes != NULL) {
		memcpy(bytes, body.data, body.size);
		hash_begin(&h);
		hash_add(&h, body.data, body.size);
		hash_end(&h, (uint8_t *)bytes + body.size);
		status = fdio_store(
		    store.directory, a->request_id, bytes, body.size + HASH_BYTES, 0600, e);
	}
	blob_clear(&body);
	return status;
}

static int
decode(const char *name, struct blob *bytes, struct approval *a, struct err *e)
{
	uint8_t digest[HASH_BYTES];
	struct packed packed = { 0 };
	struct hash h;

	if (bytes->size < HASH_BYTES)
		return err_set(e, ERR_internal, "record %s is torn", name);
	bytes->size -= HASH_BYTES;
	hash_begin(&h);
	hash_add(&h, bytes->data, bytes->size);
	hash_end(&h, digest);
	if (memcmp(digest, (char *)bytes->data + bytes->size, HASH_BYTES) != 0)
		return err_set(e, ERR_internal, "record %s does not match its hash", name);

	int status = wire_raise(bytes, &packed, e);

	if (status == 0)
		status = wire_decode(MSG_approval, &packed, a, e);
	packed_clear(&packed);
	if (status == 0 && strcmp(a->request_id, name) != 0)
		status = err_set(e, ERR_internal, "record %s has another id", name);
	return status;
}

static int
append(struct approval *a, struct err *e)
{
	struct approval **more =
	    realloc(store.items, (store.count + 1) * sizeof(struct approval *));

	if (more == NULL)
		return err_sys(e, "records");
	store.items = more;
	store.items[store.count++] = a;
	return 0;
}

/* A record that is damaged or cannot be read grants nothing, and is kept for a person to look at.
 */
static int
load(const char *name, struct err *e)
{
	struct blob bytes = { 0 };
	struct approval *a = calloc(1, sizeof *a);
	char aside[ID + 16];
	int status = a == NULL ? err_sys(e, "record")
	                       : fdio_load(store.directory, name, FILE_BYTES, &bytes, e);

	if (status == 0)
		status = decode(name, &bytes, a, e);
	blob_clear(&bytes);
	if (status == 0)
		return append(a, e);
	record_free(a);
	log_error("a record is damaged and has no effect", LOG_S("record", name), LOG_E(e));
	snprintf(aside, sizeof aside, "%.16s.damaged", name);
	/* No reason not to start: without this daemon no program has a network. */
	if (renameat(store.directory, name, store.directory, aside) < 0)
		log_error("a damaged record cannot be set aside", LOG_S("record", name),
		    LOG_S("error", strerror(errno)));
	return 0;
}

static bool
is_id(const char *name)
{
	return strspn(name, "0123456789abcdef") == ID && name[ID] == '\0';
}

static int
by_creation(const void *a, const void *b)
{
	const struct approval *one = *(struct approval *const *)a;
	const struct approval *two = *(struct approval *const *)b;

	if (one->created_ms != two->created_ms)
		return one->created_ms < two->created_ms ? -1 : 1;
	return strcmp(one->request_id, two->request_id);
}

static int
load_all(DIR *all, struct err *e)
{
	for (const struct dirent *entry; (entry = readdir(all)) != NULL;)
		if (strncmp(entry->d_name, FDIO_DRAFT, strlen(FDIO_DRAFT)) == 0)
			unlinkat(store.directory, entry->d_name, 0);
		else if (is_id(entry->d_name) && load(entry->d_name, e) < 0)
			return -1;
	if (store.count > 0)
		qsort(store.items, store.count, sizeof(struct approval *), by_creation);
	return 0;
}

int
store_open(int directory, struct err *e)
{
	store.directory = directory;

	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);

	if (all == NULL) {
		err_sys(e, "open the records");
		if (fd >= 0)
			close(fd);
		return -1;
	}

	int status = load_all(all, e);

	closedir(all);
	return status;
}

void
store_close(void)
{
	for (size_t i = 0; i < store.count; i++)
		record_free(store.items[i]);
	free(store.items);
	store.items = NULL;
	store.count = 0;
}

/* ---- records ---- */

struct approval *
store_at(size_t i)
{
	return i < store.count ? store.items[i] : NULL;
}

struct approval *
store_find(const char *id)
{
	for (size_t i = 0; i < store.count; i++)
		if (strcmp(store.items[i]->request_id, id) == 0)
			return store.items[i];
	return NULL;
}

static bool
same(const char *stored, const char *text)
{
	return strcmp(stored != NULL ? stored : "", text) == 0;
}

bool
store_owned(const struct approval *a, const struct owner *owner)
{
	return same(a->principal, owner->principal) && same(a->space, owner->namespace) &&
	       !a->granted;
}

bool
store_live(const struct approval *a)
{
	return a->state == approval_state_pending || a->state == approval_state_approved;
}

static void
remove_at(size_t i)
{
	if (unlinkat(store.directory, store.items[i]->request_id, 0) < 0)
		log_warn("a record cannot be removed", LOG_S("record", store.items[i]->request_id));
	record_free(store.items[i]);
	store.count--;
	memmove(
	    store.items + i, store.items + i + 1, (store.count - i) * sizeof(struct approval *));
}

/* Removes the oldest record that has no effect, of this principal or (NULL) of any. */
static bool
make_room(const char *principal)
{
	for (size_t i = 0; i < store.count; i++)
		if (!store_live(store.items[i]) &&
		    (principal == NULL || same(store.items[i]->principal, principal))) {
			remove_at(i);
			return true;
		}
	return false;
}

static int
bound(const char *principal, struct err *e)
{
	size_t own = 0;

	for (size_t i = 0; i < store.count; i++)
		own += same(store.items[i]->principal, principal);
	if (own >= options.max_records && !make_room(principal))
		return err_set(e, ERR_limit_exceeded,
		    "%zu approvals of this principal are pending or in force, the limit "
		    "(max_records); revoke some",
		    own);
	if (store.count >= options.max_all_records && !make_room(NULL))
		return err_set(e, ERR_limit_exceeded,
		    "%zu approvals are pending or in force, the limit (max_all_records)",
		    store.count);
	return 0;
}

struct approval *
store_add(struct approval *given, struct err *e)
{
	struct approval *a = malloc(sizeof *a);
	char id[ID + 1];

	must(a != NULL);
	*a = *given;
	*given = (struct approval){ 0 };
	do
		hash_random_hex(id, sizeof id);
	while (store_find(id) != NULL);
	a->request_id = strdup(id);
	must(a->request_id != NULL);
	if (bound(a->principal, e) == 0 && write_file(a, e) == 0 && append(a, e) == 0)
		return a;
	unlinkat(store.directory, id, 0);
	record_free(a);
	return NULL;
}

int
store_change(struct approval *a, struct approval *next, struct err *e)
{
	bool other = next->answered_by != a->answered_by;

	if (write_file(next, e) < 0) {
		if (other)
			free(next->answered_by);
		return -1;
	}
	if (other)
		free(a->answered_by);
	*a = *next;
	return 0;
}

void
store_remove(struct approval *a)
{
	for (size_t i = 0; i < store.count; i++)
		if (store.items[i] == a) {
			remove_at(i);
			return;
		}
}
