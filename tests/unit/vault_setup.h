/* SPDX-License-Identifier: Apache-2.0 */
/* vault_setup.h - a vault without a bus, in a scratch directory. */
#pragma once

#include "scratch.h"

#include "common/base/auto.h"
#include "executor/vault/cell.h"
#include "executor/vault/key.h"
#include "executor/vault/options.h"
#include "executor/vault/store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char vault_directory[] = "/tmp/cloister-vault-XXXXXX";
static int vault_state = -1;
static const struct owner ann = { "local:1000", "" }, bob = { "token:bob", "" },
			  ann_work = { "local:1000", "work" };

/* Setup and teardown of each case: an empty directory, the settings' defaults. */
static inline int
vault_set_up(void **unused)
{
	(void)unused;
	options = (struct options){ .backends = (char *)(uintptr_t) "file",
		.directory = vault_directory,
		.operators = (char *)(uintptr_t) "local:*",
		.key_file = (char *)(uintptr_t) "",
		.max_secrets = 256,
		.max_bytes = 16 << 20 };
	unsetenv("CREDENTIALS_DIRECTORY");
	if (scratch_make(vault_directory) < 0)
		return -1;
	vault_state = open(vault_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return vault_state < 0 ? -1 : 0;
}

static inline int
vault_tear_down(void **unused)
{
	(void)unused;
	store_close();
	key_close();
	close(take_fd(&vault_state));
	return scratch_remove(vault_directory);
}

/* As a process that starts. */
static inline int
vault_open(struct err *e)
{
	store_close();
	key_close();
	if (key_open(e) < 0 || key_start(vault_state, store_exists(vault_state), e) < 0)
		return -1;
	return store_open(vault_state, e);
}

static inline struct name
vault_name(const struct owner *owner, const char *namespace, const char *text)
{
	struct name name;
	struct err e;

	assert_int_equal(name_read(&name, owner, namespace, text, &e), 0);
	return name;
}

static inline int
vault_put(const struct owner *owner, const char *text, const char *value, struct err *e)
{
	const struct name name = vault_name(owner, NULL, text);
	const struct blob of = { (void *)(uintptr_t)value, strlen(value) };

	return store_put(&name, &of, e);
}

/* value NULL: there is none. */
static inline void
vault_expect(const struct owner *owner, const char *text, const char *value)
{
	const struct name name = vault_name(owner, NULL, text);
	const struct vault_record *r = store_find(&name);
	struct blob found = { 0 };
	struct err e;

	if (value == NULL) {
		assert_null(r);
		return;
	}
	assert_non_null(r);
	assert_int_equal(store_reveal(r, &found, &e), 0);
	assert_int_equal(found.size, strlen(value));
	assert_memory_equal(found.data, value, found.size);
	cell_wipe(&found);
	assert_null(found.data);
}

static inline void
vault_write(const char *name, const char *text, mode_t mode)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%.100s", vault_directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

#define VAULT_TEST(f) cmocka_unit_test_setup_teardown(f, vault_set_up, vault_tear_down)
