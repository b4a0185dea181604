/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - the file of a snapshot: a head, the names of its owner, and the message that
 * describes it, packed by wire_encode.c.
 *
 * Trusts no file: the digest detects changes on the disk, and the decoder and tree_check() refuse
 * content that was never valid.
 */
#include "snapshotd/manifest.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/codec/wire.h"
#include "snapshotd/tree.h"

#include <endian.h>
#include <string.h>

enum {
	VERSION = 1,
	NAMES = 3, /* principal, namespace, session_id */
	MAX_NAME = 256,
};

/* All numbers are little endian.  The digest covers everything else. */
struct head {
	char magic[8];
	uint8_t digest[HASH_BYTES];
	uint32_t version, names[NAMES]; /* bytes of each name; the names follow this head */
	uint64_t body;                  /* bytes after the names */
};

static const char magic[8] = { 'c', 'l', 's', 'n', 'a', 'p', '\r', '\n' };

static void
digest(const struct blob *file, uint8_t to[HASH_BYTES])
{
	const uint8_t *bytes = file->data;
	const size_t skip = offsetof(struct head, digest), after = skip + HASH_BYTES;
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, bytes, skip);
	hash_add(&hash, bytes + after, file->size - after);
	hash_end(&hash, to);
}

static void
assemble(const struct manifest *m, const struct blob *body, struct blob *file)
{
	const char *const names[NAMES] = { m->owner.principal, m->owner.namespace, m->session_id };
	struct head *head = file->data;
	char *at = (char *)(head + 1);

	memset(head, 0, sizeof *head);
	memcpy(head->magic, magic, sizeof magic);
	head->version = htole32(VERSION);
	for (int i = 0; i < NAMES; i++) {
		head->names[i] = htole32((uint32_t)strlen(names[i]));
		at = mempcpy(at, names[i], strlen(names[i]));
	}
	head->body = htole64(body->size);
	memcpy(at, body->data, body->size);
	digest(file, head->digest);
}

int
manifest_write(struct manifest *m, struct blob *file, struct err *e)
{
	struct packed packed;

	if (wire_encode(MSG_snapshot_manifest, &m->tree, &packed, e) < 0)
		return -1;
	file->size = sizeof(struct head) + strlen(m->owner.principal) + strlen(m->owner.namespace) +
	             strlen(m->session_id) + packed.body.size;
	file->data = malloc(file->size);
	if (file->data == NULL)
		err_sys(e, "manifest");
	else
		assemble(m, &packed.body, file);
	packed_clear(&packed);
	return file->data != NULL ? 0 : -1;
}

/* Returns the names and the start of the body; NULL if the sizes do not add up. */
static const char *
split(const struct blob *file, struct manifest *m)
{
	const struct head *head = file->data;
	auto_free char *principal = NULL, *namespace = NULL;
	char **const names[NAMES] = { &principal, &namespace, &m->session_id };
	const char *at = (const char *)(head + 1);
	size_t left = file->size - sizeof *head;

	for (int i = 0; i < NAMES; i++) {
		size_t size = le32toh(head->names[i]);

		if (size > MAX_NAME || size > left || memchr(at, 0, size) != NULL ||
		    (*names[i] = strndup(at, size)) == NULL)
			return NULL;
		at += size;
		left -= size;
	}
	return owner_set(&m->owner, principal, namespace) && le64toh(head->body) == left ? at
	                                                                                 : NULL;
}

static int
corrupt(struct err *e, const char *how)
{
	return err_set(e, ERR_snapshot_corrupt, "the snapshot's manifest %s", how);
}

static int
read_body(const struct blob *file, const char *body, struct manifest *m, struct err *e)
{
	const struct snapshot_manifest *tree = &m->tree;
	const size_t before = (size_t)(body - (const char *)file->data);
	const struct packed packed = {
		.body = { (char *)file->data + before, file->size - before },
	};
	uint64_t files, bytes;

	if (wire_decode(MSG_snapshot_manifest, &packed, &m->tree, e) < 0 ||
	    tree_check(tree->entries.items, tree->entries.count, &files, &bytes, e) < 0) {
		/* An internal error concerns this process, not the file. */
		if (e->code != ERR_internal)
			e->code = ERR_snapshot_corrupt;
		return err_add(e, "the snapshot's manifest cannot be decoded");
	}
	if (files != tree->snapshot->file_count || bytes != tree->snapshot->total_bytes)
		return corrupt(e, "has other counts of files or bytes than its entries");
	return 0;
}

int
manifest_read(const struct blob *file, struct manifest *m, struct err *e)
{
	const struct head *head = file->data;
	uint8_t now[HASH_BYTES];
	const char *body;
	int result;

	if (file->size < sizeof *head || memcmp(head->magic, magic, sizeof magic) != 0)
		return corrupt(e, "has no valid header");
	digest(file, now);
	if (memcmp(now, head->digest, sizeof now) != 0)
		return corrupt(e, "does not match its digest");
	if (le32toh(head->version) != VERSION)
		return corrupt(e, "has an unknown version");
	body = split(file, m);
	result = body != NULL ? read_body(file, body, m, e) : corrupt(e, "has wrong sizes");
	if (result < 0)
		manifest_clear(m);
	return result;
}

void
manifest_clear(struct manifest *m)
{
	free(m->session_id);
	message_clear(MSG_snapshot_manifest, &m->tree);
	*m = (struct manifest){ 0 };
}
