/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.c - the file of tokens: read as a whole, compared in constant time, written line by line.
 *
 * Only the operator can write the file; its text is still checked. One invalid line refuses the
 * whole file, because a part of it could admit a client that the operator meant to exclude.
 */
#include "common/credential/tokens.h"

#include "common/credential/scope.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* People and scanners of source code recognize a leaked token by this prefix. */
static const char prefix[] = "cl_";

static const char *const known[] = { "name", "principal", "namespace", "scopes", "expires",
	"sha256" };

/* ---- fields ---- */

static bool
is_name(const char *text)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "._-");

	return size > 0 && size < TOKEN_NAME && text[size] == '\0';
}

/* Only characters that are safe in an envelope, a log and a file name. */
static bool
is_visible(const char *text, size_t room)
{
	size_t size = 0;

	while (isgraph((unsigned char)text[size]))
		size++;
	return size > 0 && size < room && text[size] == '\0';
}

static int
refuse(const char *field, const char *what, struct err *e)
{
	return err_set(e, ERR_invalid_argument, "%s: %s", field, what);
}

/* An optional text; *got is NULL if it is absent. */
static int
read_text(const json_t *line, const char *field, const char **got, struct err *e)
{
	const json_t *value = json_object_get(line, field);

	*got = json_string_value(value);
	return value != NULL && *got == NULL ? refuse(field, "not a string", e) : 0;
}

static int
read_name(const json_t *line, struct token *token, struct err *e)
{
	const char *name;

	if (read_text(line, "name", &name, e) < 0)
		return -1;
	if (name == NULL || !is_name(name))
		return refuse("name", "must be 1 to 64 letters, digits, dots, - and _", e);
	snprintf(token->name, sizeof token->name, "%s", name);
	return 0;
}

static int
read_digest(const json_t *line, struct token *token, struct err *e)
{
	const char *hex;

	if (read_text(line, "sha256", &hex, e) < 0)
		return -1;
	if (hex == NULL || !hash_is_hex(hex))
		return refuse("sha256", "must be 64 lower-case hexadecimal digits", e);
	sodium_hex2bin(token->digest, HASH_BYTES, hex, 64, NULL, NULL, NULL);
	memcpy(token->identity.credential, hex, IDENTITY_CREDENTIAL - 1);
	return 0;
}

/* Only an issuer may assign principals of the form oauth:.... */
static int
read_principal(const json_t *line, struct token *token, struct err *e)
{
	struct identity *who = &token->identity;
	const char *given;

	if (read_text(line, "principal", &given, e) < 0)
		return -1;
	if (given != NULL && !is_visible(given, sizeof who->owner.principal))
		return refuse("principal", "must be 1 to 128 visible ASCII characters", e);
	if (given != NULL && strncmp(given, "oauth:", 6) == 0)
		return refuse("principal", "must not begin with oauth:", e);
	snprintf(who->owner.principal, sizeof who->owner.principal, "%s%s",
	    given != NULL ? "" : "token:", given != NULL ? given : token->name);
	return 0;
}

static int
read_namespace(const json_t *line, struct token *token, struct err *e)
{
	struct identity *who = &token->identity;
	const char *given;

	if (read_text(line, "namespace", &given, e) < 0)
		return -1;
	if (given != NULL && !is_visible(given, sizeof who->owner.namespace))
		return refuse("namespace", "must be 1 to 64 visible ASCII characters", e);
	snprintf(
	    who->owner.namespace, sizeof who->owner.namespace, "%s", given != NULL ? given : "");
	return 0;
}

static int
read_scopes(const json_t *line, struct token *token, struct err *e)
{
	const json_t *list = json_object_get(line, "scopes"), *item;
	size_t i;

	if (list != NULL && !json_is_array(list))
		return refuse("scopes", "not an array", e);
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(item);
		unsigned scope = name != NULL ? scope_parse(name, strlen(name)) : 0;

		if (scope == 0)
			return refuse("scopes", "unknown scope", e);
		token->identity.scopes |= scope;
	}
	return 0;
}

int
token_expiry(const char *text, int64_t *seconds, struct err *e)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	if (end != NULL && *end == 'T')
		end = strptime(end, "T%H:%M:%SZ", &tm);
	*seconds = end != NULL && *end == '\0' ? (int64_t)timegm(&tm) : 0;
	return *seconds > 0 ? 0
	                    : refuse("expires",
				  "must be a UTC time after 1970, as in 2027-01-31T00:00:00Z", e);
}

int
token_expiry_from(const char *text, int64_t now_s, int64_t *seconds, struct err *e)
{
	static const char units[] = "smhdwy";
	static const int64_t each[] = { 1, 60, 3600, 86400, 604800, 31536000 };
	char *end;
	/* 6 digits of years are no overflow. */
	int64_t n = isdigit((unsigned char)text[0]) ? strtoll(text, &end, 10) : 0;
	const char *unit = n > 0 && end - text <= 6 && *end != '\0' ? strchr(units, *end) : NULL;

	if (unit == NULL || end[1] != '\0')
		return token_expiry(text, seconds, e) == 0
		           ? 0
		           : refuse("expires",
				 "must be a time from now on, as in 30d or 12h, or a UTC time "
				 "after 1970, as in 2027-01-31T00:00:00Z",
				 e);
	*seconds = now_s + n * each[unit - units];
	return 0;
}

static int
read_expiry(const json_t *line, struct token *token, struct err *e)
{
	const char *given;

	if (read_text(line, "expires", &given, e) < 0)
		return -1;
	return given == NULL ? 0 : token_expiry(given, &token->identity.expires_s, e);
}

/* ---- a line ---- */

static int
check_keys(json_t *line, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach(line, key, value)
	{
		size_t i = 0;

		while (i < COUNT(known) && strcmp(known[i], key) != 0)
			i++;
		if (i == COUNT(known))
			return err_set(e, ERR_invalid_argument,
			    "%.32s: unknown; known are name, principal, namespace, scopes, "
			    "expires, sha256",
			    key);
	}
	return 0;
}

static int
read_fields(json_t *line, struct token *token, struct err *e)
{
	if (!json_is_object(line))
		return refuse("the line", "not a JSON object with each key once", e);
	token->identity.source = IDENTITY_TOKEN;
	if (check_keys(line, e) < 0 || read_name(line, token, e) < 0 ||
	    read_digest(line, token, e) < 0 || read_principal(line, token, e) < 0 ||
	    read_namespace(line, token, e) < 0 || read_scopes(line, token, e) < 0)
		return -1;
	return read_expiry(line, token, e);
}

static bool
has_digest(const struct tokens *tokens, const uint8_t digest[HASH_BYTES])
{
	for (size_t i = 0; i < tokens->count; i++)
		if (memcmp(tokens->items[i].digest, digest, HASH_BYTES) == 0)
			return true;
	return false;
}

static int
add_line(struct tokens *tokens, const char *text, size_t size, struct err *e)
{
	struct token token = { 0 };
	json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	int failed = read_fields(line, &token, e);

	json_decref(line);
	if (failed < 0)
		return -1;
	if (tokens->count == TOKENS_MAX)
		return err_set(e, ERR_limit_exceeded, "more than %d tokens", TOKENS_MAX);
	if (tokens_by_name(tokens, token.name) != NULL)
		return refuse("name", "used by another line", e);
	if (has_digest(tokens, token.digest))
		return refuse("sha256", "used by another line", e);

	struct token *slot = list_add(tokens, sizeof token);

	if (slot == NULL)
		return err_sys(e, "tokens");
	*slot = token;
	return 0;
}

/* ---- the file ---- */

int
tokens_read(const struct blob *file, struct tokens *tokens, struct err *e)
{
	const char *at = file->data, *end = at + file->size;

	*tokens = (struct tokens){ 0 };
	for (unsigned number = 1; at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline != NULL ? newline : end) - at);

		if (size > 0 && *at != '#' && add_line(tokens, at, size, e) < 0) {
			tokens_clear(tokens);
			return err_add(e, "line %u", number);
		}
		at += size + 1;
	}
	return 0;
}

void
tokens_clear(struct tokens *tokens)
{
	if (tokens->items != NULL)
		sodium_memzero(tokens->items, tokens->count * sizeof *tokens->items);
	free(tokens->items);
	*tokens = (struct tokens){ 0 };
}

void
token_digest(const char *text, size_t size, uint8_t digest[HASH_BYTES])
{
	struct hash hash;

	hash_begin(&hash);
	hash_add(&hash, text, size);
	hash_end(&hash, digest);
	sodium_memzero(&hash, sizeof hash);
}

/* Constant time. libsodium's own function compares byte by byte, which is slow for thousands of
 * tokens. */
static bool
same(const uint8_t a[HASH_BYTES], const uint8_t b[HASH_BYTES])
{
	uint64_t left[HASH_BYTES / 8], right[HASH_BYTES / 8], differ = 0;

	memcpy(left, a, sizeof left);
	memcpy(right, b, sizeof right);
	for (size_t i = 0; i < COUNT(left); i++)
		differ |= left[i] ^ right[i];
	return differ == 0;
}

const struct token *
tokens_find(const struct tokens *tokens, const char *text, size_t size)
{
	uint8_t digest[HASH_BYTES];
	const struct token *found = NULL;

	token_digest(text, size, digest);
	for (size_t i = 0; i < tokens->count; i++)
		found = same(tokens->items[i].digest, digest) ? &tokens->items[i] : found;
	return found;
}

const struct token *
tokens_by_name(const struct tokens *tokens, const char *name)
{
	for (size_t i = 0; i < tokens->count; i++)
		if (strcmp(tokens->items[i].name, name) == 0)
			return &tokens->items[i];
	return NULL;
}

/* ---- a new token ---- */

void
token_make(char text[TOKEN_TEXT])
{
	uint8_t random[TOKEN_BYTES];

	randombytes_buf(random, sizeof random);
	memcpy(text, prefix, sizeof prefix);
	sodium_bin2base64(text + sizeof prefix - 1, TOKEN_TEXT - sizeof prefix + 1, random,
	    sizeof random, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	sodium_memzero(random, sizeof random);
}

static json_t *
scope_names(unsigned scopes)
{
	char text[SCOPES_TEXT], *rest = NULL;
	json_t *names = json_array();

	scope_text(scopes, text);
	for (char *name = strtok_r(text, " ", &rest); name != NULL;
	     name = strtok_r(NULL, " ", &rest))
		json_array_append_new(names, json_string(name));
	return names;
}

char *
token_line(const struct token *token, const char *expires)
{
	const struct identity *who = &token->identity;
	char hex[HASH_HEX];

	sodium_bin2hex(hex, sizeof hex, token->digest, HASH_BYTES);

	json_t *line = json_pack("{s:s, s:s, s:s*, s:o, s:s*, s:s}", "name", token->name,
	    "principal", who->owner.principal, "namespace",
	    who->owner.namespace[0] != '\0' ? who->owner.namespace : NULL, "scopes",
	    scope_names(who->scopes), "expires", expires, "sha256", hex);
	char *text = line == NULL ? NULL : json_dumps(line, JSON_COMPACT);

	json_decref(line);
	return text;
}
