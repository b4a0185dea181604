/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_sealed.c - the file of the vault: any bytes, or any list of records under the right seal.
 *
 * Input: whether the target seals (1 byte), and the bytes.  Bytes that nobody sealed open never.  A
 * list that opens is the same after a change, and a value that opens is the one that was sealed.
 */
#include "executor/vault/cell.h"
#include "executor/vault/key.h"
#include "executor/vault/options.h"
#include "executor/vault/store.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_NAME "vault.sealed"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct owner ann = { "local:1", "" };
static const char value[] = "a value of ann";

/* Waiting for the disk shows nothing here. */
int
fsync(int fd)
{
	return fd >= 0 ? 0 : -1;
}

/* Below the directory it runs in; a name is used again by each input. */
static int
directory(void)
{
	static int state = -1;
	struct err e;

	if (state >= 0)
		return state;
	must(mkdir("fuzz-sealed", 0700) == 0 || access("fuzz-sealed", W_OK) == 0);
	state = open("fuzz-sealed", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	options = (struct options){ .operators = (char *)(uintptr_t) "",
		.key_file = (char *)(uintptr_t) "",
		.max_secrets = 1000,
		.max_bytes = 1 << 26 };
	must(state >= 0 && key_open(&e) == 0 && key_start(-1, false, &e) == 0);
	return state;
}

/* As store.c does. */
static void
seal(const uint8_t *data, size_t size, struct blob *cell)
{
	static const char magic[] = "cloister vault v1";
	const struct blob of = { (void *)(uintptr_t)magic, sizeof magic };
	struct err e;

	must(cell_seal(key_at(0), &of, data, size, cell, &e) == 0);
}

static int
try_value(void *count, const struct vault_record *r, struct err *e)
{
	struct blob found = { 0 };

	++*(size_t *)count;
	if (store_reveal(r, &found, e) == 0)
		must(found.size == sizeof value - 1 && memcmp(found.data, value, found.size) == 0);
	cell_wipe(&found);
	return 0;
}

static size_t
count(void)
{
	size_t n = 0;
	struct err e;

	must(store_each(&ann, try_value, &n, &e) == 0);
	return n;
}

static void
change(int state, size_t before)
{
	const struct blob of = { (void *)(uintptr_t)value, sizeof value - 1 };
	const struct name name = { &ann, "default", "FUZZ" };
	bool known = store_find(&name) != NULL;
	size_t after = before + (known ? 0 : 1);
	struct err e;

	if (store_put(&name, &of, &e) < 0) {
		must(e.code == ERR_limit_exceeded && count() == before);
		return;
	}
	must(count() == after);
	store_close();
	must(store_open(state, &e) == 0 && count() == after && store_find(&name) != NULL);
	must(store_delete(&name, &e) == 0 && count() == after - 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int state = directory();
	bool seals = size > 0 && (data[0] & 1) != 0;
	struct blob cell = { 0 };
	struct err e = { 0 };

	if (size == 0)
		return 0;
	if (seals)
		seal(data + 1, size - 1, &cell);
	else
		cell = blob_copy(data + 1, size - 1);
	must(fdio_store(state, FILE_NAME, cell.data, cell.size, 0600, &e) == 0);
	blob_clear(&cell);
	if (store_open(state, &e) == 0) {
		must(seals);
		change(state, count());
	} else {
		must(e.text[0] != '\0');
	}
	store_close();
	return 0;
}
