/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - collects secrets; the values come from the vault. */
#include "executor/redact/known.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

static void
wipe(struct blob *blob)
{
	if (blob->data != NULL)
		sodium_memzero(blob->data, blob->size);
	blob_clear(blob);
}

static bool
has(const struct known *k, const struct blob *value)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->items[i].size == value->size &&
		    memcmp(k->items[i].data, value->data, value->size) == 0)
			return true;
	return false;
}

static void
shrink(struct known *k, size_t count)
{
	while (k->count > count)
		wipe(&k->items[--k->count]);
}

int
known_add(struct known *k, const struct vault_values *values, struct err *e)
{
	size_t was = k->count;
	int status = 0;

	for (size_t i = 0; i < values->values.count && status == 0; i++) {
		const struct blob *value = &values->values.items[i].value;
		struct blob *item = has(k, value) ? NULL : list_add(&k->items, sizeof *item);

		if (item != NULL)
			*item = blob_copy(value->data, value->size);
		if (item != NULL ? item->data == NULL : !has(k, value))
			status = err_sys(e, "secrets");
	}

	struct redact *made =
	    status == 0 && k->count > was ? redact_new(k->items, k->count, e) : NULL;

	if (status < 0 || (k->count > was && made == NULL)) {
		shrink(k, was);
		return -1;
	}
	if (made != NULL) {
		redact_free(k->redact);
		k->redact = made;
	}
	return 0;
}

void
known_hide(const struct known *k, struct texts *texts)
{
	for (size_t i = 0; k->redact != NULL && i < texts->count; i++) {
		redact_text(k->redact, &texts->items[i]);
		must(texts->items[i] != NULL);
	}
}

void
known_clear(struct known *k)
{
	shrink(k, 0);
	free(k->items);
	texts_clear(&k->names);
	redact_free(k->redact);
	*k = (struct known){ 0 };
}

int
known_name(struct known *k, const char *namespace, const char *name, struct err *e)
{
	auto_free char *whole = NULL;

	if (asprintf(&whole, "%s/%s", namespace != NULL ? namespace : "default", name) < 0)
		return err_sys(e, "names of secrets");
	for (size_t i = 0; i < k->names.count; i++)
		if (strcmp(k->names.items[i], whole) == 0)
			return 0;
	if (k->names.count == KNOWN_NAMES)
		return err_set(e, ERR_limit_exceeded,
		    "env_secrets: a session has at most %d secrets", KNOWN_NAMES);
	return texts_add(&k->names, whole) < 0 ? err_sys(e, "names of secrets") : 0;
}

void
known_wipe(struct vault_values *values)
{
	known_shrink(values, 0);
	message_clear(MSG_vault_values, values);
}

void
known_shrink(struct vault_values *values, size_t count)
{
	while (values->values.count > count) {
		struct secret_value *last = &values->values.items[--values->values.count];

		wipe(&last->value);
		message_clear(MSG_secret_value, last);
	}
}
