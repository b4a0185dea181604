/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - records in memory and in vault.sealed.
 *
 * Theory of operation.  Each value is sealed for its owner, namespace, name and time, so that a
 * value is in the clear only while it is added or revealed.  The file is a sealed message with all
 * records; the seal covers the list, too, so that no record can be removed or replaced by an older
 * one without replacing the whole file.  The whole file is written on each change.
 *
 * Trusts its directory not to contain an older copy of the whole file.
 */
#include "executor/vault/store.h"

#include "executor/vault/cell.h"
#include "executor/vault/key.h"
#include "executor/vault/options.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/timestamp.h"
#include "common/codec/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NAME "vault.sealed"

enum {
	MAX_FILE = 256 << 20,
	MAX_ALL = 1000, /* records; of schema.def */
};

static struct {
	int state; /* -1: none */
	struct vault_file all;
	size_t bytes; /* of the sealed values */
} store = { .state = -1 };

static const char magic[] = "cloister vault v1";

/* ---- one record ---- */

/* What the seal of a value is for. */
struct label {
	char text[4 * 130 + 64];
	struct blob of;
};

static void
label_of(struct label *l, const struct vault_record *r)
{
	int size = snprintf(l->text, sizeof l->text, "%s%c%s%c%s%c%s%c%s%c%llu", magic, 0,
	    r->principal != NULL ? r->principal : "", 0, r->space != NULL ? r->space : "", 0,
	    r->namespace, 0, r->name, 0, (unsigned long long)r->changed_ms);

	must(size > 0 && (size_t)size < sizeof l->text);
	l->of = (struct blob){ l->text, (size_t)size };
}

static bool
same(const char *a, const char *b)
{
	must(b != NULL);
	return strcmp(a != NULL ? a : "", b) == 0;
}

static bool
is_of(const struct vault_record *r, const struct owner *owner)
{
	return same(r->principal, owner->principal) && same(r->space, owner->namespace);
}

static struct vault_record *
find(const struct name *name)
{
	for (size_t i = 0; i < store.all.records.count; i++) {
		struct vault_record *r = &store.all.records.items[i];

		if (is_of(r, name->owner) && same(r->namespace, name->namespace) &&
		    same(r->name, name->name))
			return r;
	}
	return NULL;
}

const struct vault_record *
store_find(const struct name *name)
{
	return find(name);
}

int
store_reveal(const struct vault_record *r, struct blob *value, struct err *e)
{
	struct label label;

	label_of(&label, r);
	return cell_open(key_at(0), &label.of, &r->sealed, value, e);
}

/* ---- the file ---- */

static char *
copy(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : strdup(text);
}

/* The record, with another seal. */
static int
add_copy(struct vault_file *to, const struct vault_record *r, const void *sealed, size_t size,
    struct err *e)
{
	struct vault_record *made = list_add(&to->records, sizeof *made);

	if (made == NULL)
		return err_sys(e, "records");
	*made = (struct vault_record){ copy(r->principal), copy(r->space), copy(r->namespace),
		copy(r->name), r->created_ms, r->changed_ms, blob_copy(sealed, size) };
	return made->namespace != NULL && made->name != NULL && made->sealed.data != NULL
	           ? 0
	           : err_sys(e, "record");
}

/* Encoding takes the blobs of a message, so it gets a copy. */
static int
pack(struct blob *bytes, struct err *e)
{
	struct vault_file file = { 0 };
	struct packed packed = { 0 };
	int status = 0;

	for (size_t i = 0; i < store.all.records.count && status == 0; i++) {
		const struct vault_record *r = &store.all.records.items[i];

		status = add_copy(&file, r, r->sealed.data, r->sealed.size, e);
	}
	if (status == 0)
		status = wire_encode(MSG_vault_file, &file, &packed, e);
	if (status == 0)
		status = wire_flatten(&packed, bytes, e);
	packed_clear(&packed);
	message_clear(MSG_vault_file, &file);
	return status;
}

static int
save(struct err *e)
{
	const struct blob of = { (void *)(uintptr_t)magic, sizeof magic };
	struct blob bytes = { 0 }, cell = { 0 };
	int status = -1;

	if (store.state < 0)
		return 0;
	if (pack(&bytes, e) == 0 &&
	    cell_seal(key_at(0), &of, bytes.data, bytes.size, &cell, e) == 0)
		status = fdio_store(store.state, NAME, cell.data, cell.size, 0600, e);
	blob_clear(&bytes);
	blob_clear(&cell);
	return status < 0 ? err_add(e, NAME) : 0;
}

static int
unpack(const struct blob *bytes, struct vault_file *file, struct err *e)
{
	struct packed packed = { 0 };
	int status = -1;

	if (wire_raise(bytes, &packed, e) == 0)
		status = wire_decode(MSG_vault_file, &packed, file, e);
	packed_clear(&packed);
	return status;
}

/* Opens with any of the keys; *key is its number. */
static int
unseal(const struct blob *cell, size_t *key, struct err *e)
{
	const struct blob of = { (void *)(uintptr_t)magic, sizeof magic };
	struct blob bytes = { 0 };
	int status = -1;

	err_set(e, ERR_internal, "no key");
	for (*key = 0; key_at(*key) != NULL && status < 0; ++*key)
		status = cell_open(key_at(*key), &of, cell, &bytes, e);
	--*key;
	if (status == 0)
		status = unpack(&bytes, &store.all, e);
	blob_clear(&bytes);
	return status;
}

/* Seals all values with the first key, as the file will be; *key opened them. */
static int
reseal(const uint8_t *key, struct err *e)
{
	struct vault_file fresh = { 0 };
	int status = 0;

	for (size_t i = 0; i < store.all.records.count && status == 0; i++) {
		const struct vault_record *r = &store.all.records.items[i];
		struct blob value = { 0 }, cell = { 0 };
		struct label label;

		label_of(&label, r);
		status = cell_open(key, &label.of, &r->sealed, &value, e);
		if (status == 0)
			status = cell_seal(key_at(0), &label.of, value.data, value.size, &cell, e);
		if (status == 0)
			status = add_copy(&fresh, r, cell.data, cell.size, e);
		cell_wipe(&value);
		blob_clear(&cell);
	}

	struct vault_file old = store.all;

	store.all = fresh;
	if (status == 0)
		status = save(e);
	if (status < 0)
		store.all = old;
	message_clear(MSG_vault_file, status < 0 ? &fresh : &old);
	return status;
}

bool
store_exists(int state)
{
	struct stat st;

	return state >= 0 && fstatat(state, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int
store_open(int state, struct err *e)
{
	struct blob cell = { 0 };
	size_t key = 0;

	store.state = state;
	if (!store_exists(state))
		return 0;
	if (fdio_load(state, NAME, MAX_FILE, &cell, e) < 0)
		return -1;

	int status = unseal(&cell, &key, e);

	blob_clear(&cell);
	if (status < 0)
		return err_add(e, NAME);
	for (size_t i = 0; i < store.all.records.count; i++)
		store.bytes += store.all.records.items[i].sealed.size;
	if (key > 0 && reseal(key_at(key), e) < 0)
		return -1;
	return key_forget_old(e);
}

void
store_close(void)
{
	message_clear(MSG_vault_file, &store.all);
	store.bytes = 0;
	store.state = -1;
}

/* ---- changes ---- */

static int
check_room(const struct name *name, size_t size, struct err *e)
{
	size_t mine = 0;

	for (size_t i = 0; i < store.all.records.count; i++)
		mine += same(store.all.records.items[i].principal, name->owner->principal);
	if (find(name) == NULL &&
	    (mine >= options.max_secrets || store.all.records.count >= MAX_ALL))
		return err_set(e, ERR_limit_exceeded,
		    "you have %zu secrets; delete one that is no longer needed", mine);
	if (store.bytes + size > options.max_bytes)
		return err_set(e, ERR_limit_exceeded, "the vault is full");
	return 0;
}

static void
drop_last(void)
{
	struct vault_record *r = &store.all.records.items[--store.all.records.count];

	message_clear(MSG_vault_record, r);
}

static int
put_new(struct vault_record like, const struct blob *cell, struct err *e)
{
	size_t was = store.all.records.count;

	if (add_copy(&store.all, &like, cell->data, cell->size, e) == 0 && save(e) == 0)
		return 0;
	if (store.all.records.count > was)
		drop_last();
	return -1;
}

static int
replace(struct vault_record *r, uint64_t changed_ms, struct blob *cell, struct err *e)
{
	struct blob old = r->sealed;
	uint64_t was_ms = r->changed_ms;

	r->sealed = *cell;
	r->changed_ms = changed_ms;
	if (save(e) < 0) {
		r->sealed = old;
		r->changed_ms = was_ms;
		return -1;
	}
	*cell = old;
	return 0;
}

int
store_put(const struct name *name, const struct blob *value, struct err *e)
{
	struct vault_record like = {
		.principal = (char *)(uintptr_t)name->owner->principal,
		.space = (char *)(uintptr_t)name->owner->namespace,
		.namespace = (char *)(uintptr_t)name->namespace,
		.name = (char *)(uintptr_t)name->name,
		.created_ms = timestamp_ms(),
		.changed_ms = timestamp_ms(),
	};
	struct vault_record *r = find(name);
	size_t was = r != NULL ? r->sealed.size : 0;
	struct blob cell = { 0 };
	struct label label;

	label_of(&label, &like);
	if (check_room(name, value->size, e) < 0 ||
	    cell_seal(key_at(0), &label.of, value->data, value->size, &cell, e) < 0)
		return -1;

	size_t now = cell.size;
	int status = r == NULL ? put_new(like, &cell, e) : replace(r, like.changed_ms, &cell, e);

	if (status == 0)
		store.bytes += now - was;
	blob_clear(&cell);
	return status;
}

int
store_delete(const struct name *name, struct err *e)
{
	struct vault_record *r = find(name);

	if (r == NULL)
		return err_set(e, ERR_secret_not_found, "no stored secret %s in namespace %s",
		    name->name, name->namespace);

	struct vault_record *last = &store.all.records.items[store.all.records.count - 1];
	struct vault_record gone = *r;

	*r = *last;
	*last = (struct vault_record){ 0 };
	store.all.records.count--;
	if (save(e) < 0) {
		*last = *r;
		*r = gone;
		store.all.records.count++;
		return -1;
	}
	store.bytes -= gone.sealed.size;
	message_clear(MSG_vault_record, &gone);
	return 0;
}

int
store_each(const struct owner *owner,
    int (*see)(void *self, const struct vault_record *, struct err *), void *self, struct err *e)
{
	for (size_t i = 0; i < store.all.records.count; i++)
		if (is_of(&store.all.records.items[i], owner) &&
		    see(self, &store.all.records.items[i], e) < 0)
			return -1;
	return 0;
}

/* Killed at any moment, the key that sealed the file is in the file of keys. */
int
store_rekey(struct err *e)
{
	if (key_renew(e) < 0)
		return -1;
	if (reseal(key_at(1), e) == 0)
		return key_forget_old(e);
	key_undo();
	return -1;
}
