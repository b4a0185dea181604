/* SPDX-License-Identifier: Apache-2.0 */
/*
 * issuer.c - fetches an issuer's keys from the URL in its metadata and stores them for the gateway.
 *
 * The issuer in the metadata must be identical to the requested one (RFC 8414, section 3.3);
 * otherwise its keys would verify tokens of another issuer. A set without a usable key is not
 * stored.
 */
#include "compose/cloister/access/access.h"

#include "common/credential/jwks.h"
#include "common/credential/url.h"
#include "compose/cloister/access/fetch.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <stdio.h>
#include <string.h>

/* URLs that may have the metadata, in the order of MCP 2026-07-28: with the path at the end (RFC
 * 8414), and at the start (OpenID Connect Discovery). */
static const struct {
	const char *name;
	bool behind;
} places[] = {
	{ "/.well-known/oauth-authorization-server", true },
	{ "/.well-known/openid-configuration", true },
	{ "/.well-known/openid-configuration", false },
};

/* The URL of the keys, from malloc, or NULL. */
static char *
read_metadata(const struct blob *text, const char *issuer, struct err *e)
{
	json_t *root = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, NULL);
	const char *named = json_string_value(json_object_get(root, "issuer"));
	const char *keys = json_string_value(json_object_get(root, "jwks_uri"));
	char *uri = NULL;

	if (named == NULL || strcmp(named, issuer) != 0)
		err_set(e, ERR_denied, "the metadata is from issuer '%.100s', expected '%.100s'",
		    named != NULL ? named : "", issuer);
	else if (keys == NULL)
		err_set(e, ERR_not_found, "the metadata has no jwks_uri");
	else if (url_check("jwks_uri", keys, e) == 0)
		uri = strdup(keys);
	json_decref(root);
	return uri;
}

static int
find_keys(const char *issuer, const char *path, char **uri, struct err *e)
{
	int origin = (int)(path - issuer);
	const char *rest = strcmp(path, "/") == 0 ? "" : path;
	struct blob text;

	for (size_t i = 0; i < COUNT(places); i++) {
		auto_free char *url = NULL;

		if (asprintf(&url, "%.*s%s%s", origin, issuer,
			places[i].behind ? places[i].name : rest,
			places[i].behind ? rest : places[i].name) < 0)
			return err_sys(e, "metadata");
		if (fetch(url, access_options.ca, &text, e) < 0) {
			if (e->code == ERR_not_found)
				continue;
			return -1;
		}
		*uri = read_metadata(&text, issuer, e);
		blob_clear(&text);
		return *uri != NULL ? 0 : -1;
	}
	return -1;
}

static int
store(const char *issuer, const struct blob *text, struct err *e)
{
	struct directory directory = { .fd = -1 };
	struct jwks keys;
	int failed;

	if (jwks_read(text, &keys, e) < 0)
		return -1;
	failed = access_open(&directory, e);
	if (failed == 0)
		failed = access_store(&directory, AUTH_KEYS, text->data, text->size, e);
	if (failed == 0)
		printf("%zu keys of %s\n", keys.count, issuer);
	jwks_clear(&keys);
	if (directory.fd >= 0)
		close(directory.fd);
	return failed;
}

int
issuer_on_fetch(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	const char *issuer = arguments[0], *path = url_path("URL", issuer, e);
	auto_free char *uri = NULL;
	struct blob text;

	if (path == NULL || find_keys(issuer, path, &uri, e) < 0 ||
	    fetch(uri, access_options.ca, &text, e) < 0)
		return -1;

	int failed = store(issuer, &text, e);

	blob_clear(&text);
	return failed;
}
