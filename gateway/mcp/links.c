/* SPDX-License-Identifier: Apache-2.0 */
/* links.c - makes and checks links; anyone may present a link. */
#include "gateway/mcp/links.h"

#include "gateway/mcp/resource/uri.h"
#include "gateway/mcp/secretbox.h"
#include "gateway/options.h"

#include "common/base/auto.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_FILE_MAX = 4096,
};

static unsigned char key[SECRETBOX_KEY];

/* ---- the key ---- */

static int
read_key(struct err *e)
{
	unsigned char file[KEY_FILE_MAX];
	FILE *from = fopen(options.link_key, "re");
	size_t size = from == NULL ? 0 : fread(file, 1, sizeof file, from);

	if (from == NULL)
		return err_sys(e, "link_key: open %s", options.link_key);
	fclose(from);
	if (size < SECRETBOX_KEY)
		return err_set(e, ERR_invalid_argument,
		    "link_key: %s has %zu bytes, under the minimum of %d", options.link_key, size,
		    SECRETBOX_KEY);
	crypto_generichash(
	    key, sizeof key, file, size, (const unsigned char *)"cloister links", 14);
	sodium_memzero(file, sizeof file);
	return 0;
}

int
links_open(struct err *e)
{
	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium: initialization failed");
	if (*options.link_key != '\0')
		return read_key(e);
	randombytes_buf(key, sizeof key);
	return 0;
}

/* ---- a link ---- */

/* The context of the link, so that it opens nothing else; allocated with malloc. */
static char *
purpose(const char *session, const char *path)
{
	char *text;

	return asprintf(&text, "%s/%s", session, path) < 0 ? NULL : text;
}

static char *
seal(const struct owner *owner, const char *purpose_)
{
	json_t *value = json_pack("[s, s]", owner->principal, owner->namespace);
	char *text = secretbox_make(
	    key, (const char *const[]){ purpose_, NULL }, value, (int64_t)options.link_ttl_s);

	json_decref(value);
	return text;
}

char *
links_make(const char *base, const struct owner *owner, const char *session, const char *path)
{
	auto_free char *for_what = purpose(session, path);
	auto_free char *escaped = uri_escape(path, URI_PATH);
	auto_free char *sealed = for_what == NULL ? NULL : seal(owner, for_what);
	char *link;

	if (escaped == NULL || sealed == NULL)
		return NULL;
	if (asprintf(&link, "%s/files/%s/%s?t=%s", base, session, escaped, sealed) < 0)
		return NULL;
	return link;
}

static int
read_owner(const json_t *value, struct owner *owner, struct err *e)
{
	const char *principal = json_string_value(json_array_get(value, 0));
	const char *namespace = json_string_value(json_array_get(value, 1));

	if (principal == NULL || namespace == NULL || !owner_set(owner, principal, namespace))
		return err_set(e, ERR_denied, "this link is not valid");
	return 0;
}

int
links_check(
    const char *session, const char *path, const char *text, struct owner *owner, struct err *e)
{
	auto_free char *for_what = purpose(session, path);
	struct secret s;
	bool expired;

	if (for_what == NULL)
		return err_sys(e, "look at a link");
	if (secretbox_open(key, (const char *const[]){ for_what, NULL }, text, &s, &expired) < 0)
		return err_set(e, ERR_denied, "%s",
		    expired ? "this link has expired; list the files again for a new one"
			    : "this link is not valid");

	int failed = read_owner(s.value, owner, e);

	json_decref(s.value);
	return failed;
}

/* ---- in replies ---- */

/* Only the gateway decides where a file can be downloaded: a daemon's value is not used. */
static void
fill_artifact(const struct origin *origin, const char *session, struct artifact *a)
{
	const struct transport *by = origin->client->by;

	free(take_ptr(a->download_url));
	if (session != NULL && by->link != NULL)
		a->download_url = by->link(origin->client, origin->exchange, session, a->filename);
}

static void
fill_field(const struct origin *origin, const char *session, const struct field *f, void *slot)
{
	struct list *list = slot;

	if (f->of != MSG_artifact)
		return;
	if (f->kind == KIND_ITEM && item_of(slot) != NULL)
		fill_artifact(origin, session, item_of(slot));
	for (size_t i = 0; f->kind == KIND_LIST && i < list->count; i++)
		fill_artifact(origin, session, (struct artifact *)list->items + i);
}

void
links_fill(const struct origin *origin, enum msg_id id, void *message)
{
	const struct message *m = &messages[id];
	const char *session = NULL;

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_TEXT && strcmp(f->name, "session_id") == 0)
			session = *(char **)((char *)message + f->offset);
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		fill_field(origin, session, f, (char *)message + f->offset);
}
