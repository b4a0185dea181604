/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secrets.c - the run's side of the vault.
 *
 * Trusts the vault for the values, but not for their number, names and sizes.  A program chooses
 * the names of its files.
 */
#include "executor/run/secrets.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"
#include "executor/redact/form.h"

#include <stdio.h>
#include <string.h>

enum {
	VAULT_MS = 15000,
	MAX_NOTES = 16, /* about secrets */
};

uint64_t
secrets_ask(const struct owner *owner, struct vault_reveal *request,
    void (*done)(void *self, void *reply, const struct err *), void *self, struct err *e)
{
	return bus_ask(
	    &(struct ask){
		.to = PEER_vault,
		.message = MSG_vault_reveal,
		.request = request,
		.owner = owner,
		.timeout_ms = VAULT_MS,
		.self = self,
		.done = done,
	    },
	    e);
}

/* Variables of the environment have no zero byte. */
static int
check(const struct secret_value *value, const char *name, struct err *e)
{
	if (strcmp(value->name, name) != 0)
		return err_set(e, ERR_internal, "the vault sent another secret");
	if (value->value.size < FORM_MIN)
		return err_set(e, ERR_invalid_argument,
		    "env_secrets: %s has less than %d bytes and cannot be redacted", name,
		    FORM_MIN);
	if (memchr(value->value.data, 0, value->value.size) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "env_secrets: %s has a zero byte, which no environment variable can have",
		    name);
	return 0;
}

static int
add_note(struct texts *notes, const char *name, const char *why, struct err *e)
{
	char note[300];

	if (notes->count == MAX_NOTES)
		return 0;
	snprintf(note, sizeof note, "secrets: %.64s is not set, because %.200s.", name, why);
	return texts_add(notes, note) < 0 ? err_sys(e, "notes") : 0;
}

static const char *
unfit(const struct blob *value)
{
	if (value->size < FORM_MIN)
		return "a value of less than 8 bytes cannot be redacted";
	return memchr(value->data, 0, value->size) != NULL
	           ? "no environment variable can have its zero byte"
	           : NULL;
}

static int
keep_fit(struct vault_values *values, size_t first, struct texts *notes, struct err *e)
{
	size_t kept = first;

	for (size_t i = first; i < values->values.count; i++) {
		struct secret_value *value = &values->values.items[i];
		const char *why = unfit(&value->value);

		if (why != NULL && add_note(notes, value->name, why, e) < 0)
			return -1;
		if (why == NULL) {
			struct secret_value same = values->values.items[kept];

			values->values.items[kept++] = *value;
			*value = same;
		}
	}
	known_shrink(values, kept);
	return 0;
}

int
secrets_take(const struct texts *names, struct vault_values *reply, struct vault_values *to,
    struct texts *notes, struct err *e)
{
	*to = *reply;
	*reply = (struct vault_values){ 0 };
	if (to->values.count < names->count)
		return err_set(e, ERR_internal, "the vault sent too few secrets");
	for (size_t i = 0; i < names->count; i++)
		if (check(&to->values.items[i], names->items[i], e) < 0)
			return -1;
	return keep_fit(to, names->count, notes, e);
}

int
secrets_lack(const struct err *why, struct texts *notes, struct err *e)
{
	char note[300];

	if (why->code == ERR_unauthenticated)
		return 0;
	snprintf(note, sizeof note, "secrets: none is set, because %.200s.", why->text);
	return texts_add(notes, note) < 0 ? err_sys(e, "notes") : 0;
}

int
secrets_hide_names(const struct known *known, struct execution *reply, struct err *e)
{
	size_t kept = 0, count = reply->artifacts.count;
	char note[160];

	known_hide(known, &reply->notes);
	for (size_t i = 0; i < count; i++) {
		struct artifact *a = &reply->artifacts.items[i];

		if (redact_finds(known->redact, a->filename))
			message_clear(MSG_artifact, a);
		else if (i == kept++)
			continue;
		else {
			reply->artifacts.items[kept - 1] = *a;
			*a = (struct artifact){ 0 };
		}
	}
	reply->artifacts.count = kept;
	if (kept == count)
		return 0;
	snprintf(note, sizeof note,
	    "%zu files are not listed, because their names contain a secret.", count - kept);
	return texts_add(&reply->notes, note) < 0 ? err_sys(e, "notes") : 0;
}
