/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - adds and removes lines of the file of tokens; comments and order are preserved. */
#include "compose/cloister/access/access.h"

#include "common/credential/scope.h"
#include "common/credential/tokens.h"
#include "common/credential/uses.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

struct book {
	struct directory directory;
	struct blob text;
	struct tokens tokens;
};

/* Follows a symlink, as the gateway does.  A missing file counts as empty. */
static int
load(struct book *book, struct err *e)
{
	auto_fd int fd = fdio_open_inside(book->directory.fd, AUTH_TOKENS, e);

	if (fd >= 0)
		return fdio_load_open(fd, AUTH_TOKENS, TOKENS_FILE_MAX, &book->text, e);
	if (e->code != ERR_not_found)
		return -1;
	book->text = blob_text("");
	return 0;
}

static int
open_book(struct book *book, struct err *e)
{
	if (access_open(&book->directory, e) < 0 || load(book, e) < 0)
		return -1;
	return tokens_read(&book->text, &book->tokens, e) < 0 ? err_add(e, AUTH_TOKENS) : 0;
}

static void
close_book(struct book *book)
{
	tokens_clear(&book->tokens);
	blob_clear(&book->text);
	if (book->directory.fd >= 0)
		close(book->directory.fd);
}

/* ---- add ---- */

static int
read_scopes(unsigned *scopes, struct err *e)
{
	for (const char *at = access_options.scopes; *at != '\0';) {
		size_t size = strcspn(at, ", ");
		unsigned scope = scope_parse(at, size);

		if (scope == 0)
			return err_set(e, ERR_invalid_argument,
			    "scopes: '%.*s' is not one of read, run, monitor, vault, approve, "
			    "metrics",
			    (int)(size < 64 ? size : 64), at);
		*scopes |= scope;
		at += size + strspn(at + size, ", ");
	}
	return 0;
}

static int
describe(const char *name, struct token *entry, struct err *e)
{
	struct identity *who = &entry->identity;
	const char *principal = access_options.principal;

	if (strlen(name) >= TOKEN_NAME)
		return err_set(e, ERR_invalid_argument, "NAME: more than %d bytes", TOKEN_NAME - 1);
	snprintf(entry->name, sizeof entry->name, "%s", name);
	snprintf(who->owner.principal, sizeof who->owner.principal, "%s%s",
	    principal[0] != '\0' ? "" : "token:", principal[0] != '\0' ? principal : name);
	snprintf(who->owner.namespace, sizeof who->owner.namespace, "%s", access_options.namespace);
	return read_scopes(&who->scopes, e);
}

/* The expiry that a flag gives, as the file has it; expires[0] is zero if there is none. */
static int
read_expiry(const char *given, char expires[TIMESTAMP_TEXT], struct err *e)
{
	struct timespec ends = { 0 };
	int64_t seconds;

	expires[0] = '\0';
	if (given[0] == '\0')
		return 0;
	if (token_expiry_from(given, timestamp_now().tv_sec, &seconds, e) < 0)
		return -1;
	ends.tv_sec = (time_t)seconds;
	timestamp_text(ends, 0, expires);
	return 0;
}

/* The text of the file with one more entry, from malloc; NULL with *e. */
static char *
with(const char *text, const struct token *entry, const char *expires, struct err *e)
{
	auto_free char *line = token_line(entry, expires[0] != '\0' ? expires : NULL);
	size_t size = strlen(text);
	bool whole = size == 0 || text[size - 1] == '\n';
	char *all = NULL;

	if (line == NULL || asprintf(&all, "%s%s%s\n", text, whole ? "" : "\n", line) < 0) {
		err_sys(e, "tokens");
		return NULL;
	}
	return all;
}

/* Parses the new text as the gateway will, before the file is written. */
static int
store(const struct book *book, const char *text, struct err *e)
{
	size_t size = strlen(text);
	struct tokens tokens;

	if (size > TOKENS_FILE_MAX)
		return err_set(e, ERR_limit_exceeded,
		    "the file would exceed %d bytes; remove a token first", TOKENS_FILE_MAX);
	if (tokens_read(&(struct blob){ (char *)(uintptr_t)text, size }, &tokens, e) < 0)
		return -1;
	tokens_clear(&tokens);
	return access_store(&book->directory, AUTH_TOKENS, text, size, e);
}

/* Adds the entry with a new secret, and shows that once. */
static int
issue(const struct book *book, const char *text, struct token *entry, const char *expires,
    struct err *e)
{
	char secret[TOKEN_TEXT];

	token_make(secret);
	token_digest(secret, sizeof secret - 1, entry->digest);

	auto_free char *all = with(text, entry, expires, e);
	int failed = all == NULL ? -1 : store(book, all, e);

	if (failed == 0) {
		fprintf(stderr, "Token %s (shown only once):\n", entry->name);
		puts(secret);
		fflush(stdout);
	}
	sodium_memzero(secret, sizeof secret);
	return failed;
}

static int
add(const struct book *book, const char *name, struct err *e)
{
	struct token entry = { 0 };
	char expires[TIMESTAMP_TEXT];

	if (describe(name, &entry, e) < 0 || read_expiry(access_options.expires, expires, e) < 0)
		return -1;
	if (tokens_by_name(&book->tokens, entry.name) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "token %s exists; choose another name, rotate it, or remove it first",
		    entry.name);
	return issue(book, book->text.data, &entry, expires, e);
}

static int
with_book(int (*run)(const struct book *, const char *name, struct err *), const char *name,
    struct err *e)
{
	struct book book = { .directory.fd = -1 };
	int failed = open_book(&book, e);

	/* The secret must not stay in a buffer of stdio. */
	setvbuf(stdout, NULL, _IONBF, 0);
	if (failed == 0)
		failed = run(&book, name, e);
	close_book(&book);
	return failed;
}

int
token_on_add(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	return with_book(add, arguments[0], e);
}

/* ---- list ---- */

static void
print(const struct token *token, const json_t *uses)
{
	const struct identity *who = &token->identity;
	char scopes[SCOPES_TEXT], expires[TIMESTAMP_TEXT] = "never", used[TIMESTAMP_TEXT] = "-";
	struct timespec ends = { .tv_sec = (time_t)who->expires_s };
	struct timespec last = { .tv_sec = (time_t)uses_of(uses, who) };

	if (ends.tv_sec != 0)
		timestamp_text(ends, 0, expires);
	if (last.tv_sec > 0)
		timestamp_text(last, 0, used);
	scope_text(who->scopes, scopes);
	printf("%s\t%s\t%s\t%s\t%s%s\t%s\n", token->name, who->owner.principal,
	    who->owner.namespace[0] != '\0' ? who->owner.namespace : "-",
	    scopes[0] != '\0' ? scopes : "-", expires,
	    ends.tv_sec != 0 && ends.tv_sec <= time(NULL) ? " (expired)" : "", used);
}

/* An empty object if no gateway has written them, or this user may not read them. */
static json_t *
read_uses(void)
{
	auto_free char *path = NULL;

	must(asprintf(&path, "%s/gateway", access_options.state) >= 0);

	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return directory < 0 ? json_object() : uses_read(directory);
}

int
token_on_list(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	struct book book = { .directory.fd = -1 };
	int failed = open_book(&book, e);

	(void)arguments;
	if (failed == 0) {
		json_t *uses = read_uses();

		puts("NAME\tPRINCIPAL\tNAMESPACE\tSCOPES\tEXPIRES\tLAST USE");
		for (size_t i = 0; i < book.tokens.count; i++)
			print(&book.tokens.items[i], uses);
		json_decref(uses);
	}
	close_book(&book);
	return failed;
}

/* ---- remove and rotate ---- */

/* The text of the file without an entry, from malloc.  Each line that is an entry corresponds to
 * the next token. */
static char *
without(const struct book *book, const struct token *out, struct err *e)
{
	char *left = malloc(book->text.size + 1);
	const char *at = book->text.data, *end = at + book->text.size;
	const struct token *token = book->tokens.items;
	size_t size = 0;

	if (left == NULL) {
		err_sys(e, "tokens");
		return NULL;
	}
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline != NULL ? newline + 1 : end) - at);
		bool entry = *at != '#' && *at != '\n';

		if (!entry || token++ != out) {
			memcpy(left + size, at, length);
			size += length;
		}
		at += length;
	}
	left[size] = '\0';
	return left;
}

static const struct token *
find(const struct book *book, const char *name, struct err *e)
{
	const struct token *token = tokens_by_name(&book->tokens, name);

	if (token == NULL)
		err_set(e, ERR_not_found,
		    "no token has the name %.64s; `cloister token list` lists them", name);
	return token;
}

static int
cut(const struct book *book, const char *name, struct err *e)
{
	const struct token *out = find(book, name, e);
	auto_free char *left = out == NULL ? NULL : without(book, out, e);

	return left == NULL ? -1 : store(book, left, e);
}

int
token_on_remove(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	return with_book(cut, arguments[0], e);
}

/* Adds the old token under another name, until the grace is over, or until it would have expired.
 */
static char *
keep_old(const char *text, const struct tokens *tokens, const struct token *old, struct err *e)
{
	struct token entry = *old;
	char name[TOKEN_NAME + 8];
	struct timespec ends = { 0 };
	char expires[TIMESTAMP_TEXT];
	int64_t seconds;

	snprintf(name, sizeof name, "%s.before", old->name);
	if (strlen(name) >= TOKEN_NAME) {
		err_set(e, ERR_invalid_argument, "NAME: too long for NAME.before");
		return NULL;
	}
	memcpy(entry.name, name, strlen(name) + 1);
	if (tokens_by_name(tokens, name) != NULL) {
		err_set(e, ERR_invalid_argument,
		    "%s, the token of an earlier rotation, is still there; `cloister token remove "
		    "%s` first",
		    name, name);
		return NULL;
	}
	if (token_expiry_from(access_options.grace, timestamp_now().tv_sec, &seconds, e) < 0)
		return NULL;
	ends.tv_sec = (time_t)(old->identity.expires_s != 0 && old->identity.expires_s < seconds
				   ? old->identity.expires_s
				   : seconds);
	timestamp_text(ends, 0, expires);
	return with(text, &entry, expires, e);
}

static int
rotate(const struct book *book, const char *name, struct err *e)
{
	const struct token *old = find(book, name, e);
	struct token entry = old != NULL ? *old : (struct token){ 0 };
	char expires[TIMESTAMP_TEXT];

	if (old == NULL || read_expiry(access_options.expires, expires, e) < 0)
		return -1;
	if (expires[0] == '\0' && old->identity.expires_s != 0)
		timestamp_text(
		    (struct timespec){ .tv_sec = (time_t)old->identity.expires_s }, 0, expires);

	auto_free char *left = without(book, old, e);
	auto_free char *kept = left == NULL ? NULL
	                       : access_options.grace[0] != '\0'
	                           ? keep_old(left, &book->tokens, old, e)
	                           : strdup(left);

	return kept == NULL ? -1 : issue(book, kept, &entry, expires, e);
}

int
token_on_rotate(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	return with_book(rotate, arguments[0], e);
}
