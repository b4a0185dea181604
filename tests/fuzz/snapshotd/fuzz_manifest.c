/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_manifest.c - the file of a snapshot as somebody may leave it who can write to the store.
 *
 * Such a one can compute a digest, so that is made right first.  What is read must be a tree that
 * can be restored, and the same after it was written and read again.
 */
#include "snapshotd/manifest.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "snapshotd/tree.h"

#include <string.h>

enum {
	DIGEST = 8, /* where it stands */
	REST = DIGEST + HASH_BYTES,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
sign(struct blob *file)
{
	uint8_t *bytes = file->data;
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, bytes, DIGEST);
	hash_add(&hash, bytes + REST, file->size - REST);
	hash_end(&hash, bytes + DIGEST);
}

static void
check_taken(struct manifest *m)
{
	struct manifest again = { 0 };
	struct blob first = { 0 }, second = { 0 };
	uint64_t files, bytes;
	struct err e;

	must(tree_check(m->tree.entries.items, m->tree.entries.count, &files, &bytes, &e) == 0);
	must(manifest_write(m, &first, &e) == 0);
	must(manifest_read(&first, &again, &e) == 0);
	must(manifest_write(&again, &second, &e) == 0);
	must(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
	blob_clear(&first);
	blob_clear(&second);
	manifest_clear(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blob file = blob_copy(data, size);
	struct manifest m = { 0 };
	struct err e = { 0 };

	must(file.data != NULL);
	if (size >= REST)
		sign(&file);
	if (manifest_read(&file, &m, &e) == 0)
		check_taken(&m);
	else
		must(e.code == ERR_snapshot_corrupt && m.tree.snapshot == NULL);
	manifest_clear(&m);
	blob_clear(&file);
	return 0;
}
