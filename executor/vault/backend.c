/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.c - the table of backends.
 *
 * Those that the operator fills (env, directory) belong to all principals of the setting
 * `operators`; the others to the principal that added the secret.
 */
#include "executor/vault/backend.h"

#include "executor/vault/cell.h"
#include "executor/vault/directory.h"
#include "executor/vault/environment.h"
#include "executor/vault/key.h"
#include "executor/vault/options.h"
#include "executor/vault/store.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"

#include <string.h>

struct listing {
	struct vault_names *to;
	const struct owner *owner;
	const char *namespace; /* NULL: all */
	const char *source;
};

static const char *stored_as; /* file or memory; NULL: nothing can be stored */

/* ---- the store ---- */

static int
reveal_stored(const struct name *name, struct blob *value, struct err *e)
{
	const struct vault_record *r = store_find(name);

	if (r == NULL)
		return 0;
	return store_reveal(r, value, e) < 0 ? -1 : 1;
}

static char *
time_text(uint64_t ms)
{
	char text[TIMESTAMP_TEXT];
	struct timespec at = { .tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000 };

	timestamp_text(at, 3, text);
	return strdup(text);
}

static int
add(const struct listing *l, const char *namespace, const char *name, struct vault_entry **made,
    struct err *e)
{
	*made = list_add(&l->to->secrets, sizeof **made);
	if (*made == NULL)
		return err_sys(e, "secrets");
	(*made)->name = strdup(name);
	(*made)->namespace = strdup(namespace);
	(*made)->source = strdup(l->source);
	return 0;
}

static int
see_stored(void *self, const struct vault_record *r, struct err *e)
{
	const struct listing *l = self;
	struct vault_entry *made;

	if (l->namespace != NULL && strcmp(l->namespace, r->namespace) != 0)
		return 0;
	if (add(l, r->namespace, r->name, &made, e) < 0)
		return -1;
	made->created_at = time_text(r->created_ms);
	made->changed_at = time_text(r->changed_ms);
	return 0;
}

static int
list_stored(struct listing *l, struct err *e)
{
	return store_each(l->owner, see_stored, l, e);
}

/* ---- what the operator gives ---- */

static int
reveal_variable(const struct name *name, struct blob *value, struct err *e)
{
	return name_is_operator(name->owner->principal) ? environment_reveal(name, value, e) : 0;
}

static int
reveal_file(const struct name *name, struct blob *value, struct err *e)
{
	return name_is_operator(name->owner->principal) ? directory_reveal(name, value, e) : 0;
}

static int
see_given(void *self, const char *name, struct err *e)
{
	const struct listing *l = self;
	const char *namespace = l->namespace != NULL ? l->namespace : "default";
	struct vault_entry *made;
	struct name key;

	return name_read(&key, l->owner, namespace, name, e) < 0
	           ? 0
	           : add(l, namespace, name, &made, e);
}

static int
list_variables(struct listing *l, struct err *e)
{
	const char *namespace = l->namespace != NULL ? l->namespace : "default";

	return name_is_operator(l->owner->principal) ? environment_each(namespace, see_given, l, e)
	                                             : 0;
}

static int
list_files(struct listing *l, struct err *e)
{
	const char *namespace = l->namespace != NULL ? l->namespace : "default";

	return name_is_operator(l->owner->principal) ? directory_each(namespace, see_given, l, e)
	                                             : 0;
}

/* ---- the table ---- */

static const struct backend {
	const char *name;
	bool stores;
	int (*open)(struct err *);
	int (*reveal)(const struct name *, struct blob *value, struct err *);
	int (*list)(struct listing *, struct err *);
} backends[] = {
	{ "file", true, NULL, reveal_stored, list_stored },
	{ "memory", true, NULL, reveal_stored, list_stored },
	{ "env", false, environment_open, reveal_variable, list_variables },
	{ "directory", false, directory_open, reveal_file, list_files },
};

static const struct backend *used[COUNT(backends)];

static int
use(const char *name, size_t size, struct err *e)
{
	for (size_t i = 0; i < COUNT(backends); i++) {
		const struct backend *b = &backends[i];
		size_t n = 0;

		if (strlen(b->name) != size || strncmp(b->name, name, size) != 0)
			continue;
		while (n < COUNT(used) && used[n] != NULL && used[n] != b)
			n++;
		must(n < COUNT(used));
		used[n] = b;
		if (b->stores && stored_as != NULL && stored_as != b->name)
			return err_set(
			    e, ERR_invalid_argument, "backends: use either file or memory");
		if (b->stores)
			stored_as = b->name;
		return 0;
	}
	return err_set(e, ERR_invalid_argument,
	    "backends: '%.*s' is none of file, memory, env, directory", (int)size, name);
}

/* The key comes first: what env reads is sealed, too. */
int
backend_open(struct err *e)
{
	memset(used, 0, sizeof used);
	stored_as = NULL;
	for (const char *at = options.backends; *at != '\0';) {
		size_t size = strcspn(at, ",");

		if (use(at, size, e) < 0)
			return -1;
		at += size + strspn(at + size, ",");
	}
	if (key_open(e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(used) && used[i] != NULL; i++)
		if (used[i]->open != NULL && used[i]->open(e) < 0)
			return -1;
	return 0;
}

int
backend_start(int state, struct err *e)
{
	int file = stored_as != NULL && strcmp(stored_as, "file") == 0 ? state : -1;

	return key_start(file, store_exists(file), e) < 0 ? -1 : store_open(file, e);
}

void
backend_close(void)
{
	store_close();
	environment_close();
	directory_close();
	key_close();
}

const char *
backend_store(void)
{
	return stored_as;
}

int
backend_can_store(struct err *e)
{
	return stored_as != NULL ? 0
	                         : err_set(e, ERR_denied,
				       "this vault stores nothing: its operator set backends to %s",
				       options.backends);
}

int
backend_reveal(const struct name *name, struct blob *value, struct err *e)
{
	int status = 0;

	for (size_t i = 0; i < COUNT(used) && used[i] != NULL && status == 0; i++)
		status = used[i]->reveal(name, value, e);
	if (status == 0)
		return err_set(e, ERR_secret_not_found, "env_secrets: no secret %s in namespace %s",
		    name->name, name->namespace);
	return status < 0 ? -1 : name_check_value(name, value->size, e);
}

static int
by_name(const void *a, const void *b)
{
	const struct vault_entry *one = a, *two = b;
	int order = strcmp(one->namespace, two->namespace);

	return order != 0 ? order : strcmp(one->name, two->name);
}

int
backend_list(
    const struct owner *owner, const char *namespace, struct vault_names *to, struct err *e)
{
	struct listing listing = { .to = to, .owner = owner, .namespace = namespace };

	for (size_t i = 0; i < COUNT(used) && used[i] != NULL; i++) {
		listing.source = used[i]->name;
		if (used[i]->list(&listing, e) < 0)
			return -1;
	}
	if (to->secrets.count > 1)
		qsort(to->secrets.items, to->secrets.count, sizeof *to->secrets.items, by_name);
	return 0;
}
