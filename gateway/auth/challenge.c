/* SPDX-License-Identifier: Apache-2.0 */
/* challenge.c - headers and a document that contain only what the operator configured. */
#include "gateway/auth/challenge.h"

#include "common/base/auto.h"
#include "common/credential/scope.h"
#include "common/credential/url.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char well_known[] = "/.well-known/oauth-protected-resource";

static struct {
	char *document, *path, *url; /* NULL: no issuer */
} metadata;

/* ---- the document ---- */

static char *
make_document(const char *issuer, const char *resource)
{
	json_t *scopes = json_array();

	for (unsigned i = 0; i < SCOPE_COUNT; i++) {
		char name[SCOPES_TEXT];

		scope_text(1U << i, name);
		json_array_append_new(scopes, json_string(name));
	}

	json_t *root = json_pack("{s:s, s:[s], s:o, s:[s], s:s}", "resource", resource,
	    "authorization_servers", issuer, "scopes_supported", scopes, "bearer_methods_supported",
	    "header", "resource_name", "cloister");
	char *text = root == NULL ? NULL : json_dumps(root, JSON_COMPACT);

	json_decref(root);
	return text;
}

int
challenge_open(const char *issuer, const char *resource, struct err *e)
{
	const char *path;

	challenge_close();
	if (issuer[0] == '\0')
		return 0;
	if (url_path("issuer", issuer, e) == NULL ||
	    (path = url_path("resource", resource, e)) == NULL)
		return -1;
	if (strcmp(path, "/") == 0)
		path++;

	int origin = (int)(strcspn(strstr(resource, "//") + 2, "/") +
			   (size_t)(strstr(resource, "//") + 2 - resource));

	if (asprintf(&metadata.path, "%s%s", well_known, path) < 0 ||
	    asprintf(&metadata.url, "%.*s%s", origin, resource, metadata.path) < 0 ||
	    (metadata.document = make_document(issuer, resource)) == NULL)
		return err_sys(e, "metadata");
	return 0;
}

void
challenge_close(void)
{
	free(metadata.document);
	free(metadata.path);
	free(metadata.url);
	memset(&metadata, 0, sizeof metadata);
}

const char *
challenge_document(void)
{
	return metadata.document;
}

const char *
challenge_path(void)
{
	return metadata.path;
}

/* ---- the header ---- */

int
challenge_status(const struct err *e)
{
	static const struct {
		enum err_code code;
		int status;
	} all[] = {
		{ ERR_invalid_argument, 400 },
		{ ERR_unauthenticated, 401 },
		{ ERR_denied, 403 },
		{ ERR_rate_limited, 429 },
	};

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i].code == e->code)
			return all[i].status;
	return 503;
}

/* RFC 6750, section 3.1.  A request without credentials gets no error code. */
static const char *
error_of(const struct err *e)
{
	if (e->code == ERR_invalid_argument)
		return "invalid_request";
	if (e->code == ERR_denied)
		return "insufficient_scope";
	return e->sys == ENOKEY ? NULL : "invalid_token";
}

/* A quoted text cannot contain quotes, backslashes or control characters. */
static void
add(FILE *to, const char *name, const char *value)
{
	fprintf(to, ", %s=\"", name);
	for (const char *at = value; *at != '\0'; at++)
		fputc(*at < 0x20 || *at > 0x7e || *at == '"' || *at == '\\' ? '\'' : *at, to);
	fputc('"', to);
}

void
challenge_text(const struct err *e, unsigned needed, char text[CHALLENGE_TEXT])
{
	const char *error = error_of(e);
	char scopes[SCOPES_TEXT];

	text[0] = '\0';
	if (challenge_status(e) > 403)
		return;

	FILE *to = fmemopen(text, CHALLENGE_TEXT, "w");

	if (to == NULL)
		return;
	/* A new client is advised to request the usual scopes, not all of them. */
	scope_text(needed != 0 || metadata.url == NULL || e->code != ERR_unauthenticated
		       ? needed
		       : SCOPES_USUAL,
	    scopes);
	fputs("Bearer realm=\"cloister\"", to);
	if (error != NULL) {
		add(to, "error", error);
		add(to, "error_description", e->text);
	}
	if (scopes[0] != '\0')
		add(to, "scope", scopes);
	if (metadata.url != NULL)
		add(to, "resource_metadata", metadata.url);
	fclose(to);
}
