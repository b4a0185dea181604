/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - adds and removes lines of the file of tokens; comments and order are preserved. */
#include "compose/cloister/access/access.h"

#include "common/credential/scope.h"
#include "common/credential/tokens.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <errno.h>
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

/* Parses the new text as the gateway will, before the file is written. */
static int
append(const struct book *book, const struct token *entry, struct err *e)
{
	const char *expires = access_options.expires;
	auto_free char *line = token_line(entry, expires[0] != '\0' ? expires : NULL), *text = NULL;
	size_t size = book->text.size;
	bool whole = size == 0 || ((const char *)book->text.data)[size - 1] == '\n';
	int length = line == NULL ? -1
	                          : asprintf(&text, "%s%s%s\n", (const char *)book->text.data,
					whole ? "" : "\n", line);
	struct tokens tokens;

	if (length < 0)
		return err_sys(e, "tokens");
	if (length > TOKENS_FILE_MAX)
		return err_set(e, ERR_limit_exceeded,
		    "the file would exceed %d bytes; remove a token first", TOKENS_FILE_MAX);
	if (tokens_read(&(struct blob){ text, (size_t)length }, &tokens, e) < 0)
		return -1;
	tokens_clear(&tokens);
	return access_store(&book->directory, AUTH_TOKENS, text, (size_t)length, e);
}

static int
add(const struct book *book, const char *name, struct err *e)
{
	struct token entry = { 0 };
	char secret[TOKEN_TEXT];

	if (describe(name, &entry, e) < 0)
		return -1;
	if (tokens_by_name(&book->tokens, entry.name) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "token %s exists; choose another name, or remove it first", entry.name);
	token_make(secret);
	token_digest(secret, sizeof secret - 1, entry.digest);

	int failed = append(book, &entry, e);

	if (failed == 0) {
		fprintf(stderr, "Token %s (shown only once):\n", entry.name);
		puts(secret);
		fflush(stdout);
	}
	sodium_memzero(secret, sizeof secret);
	return failed;
}

int
token_on_add(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	struct book book = { .directory.fd = -1 };
	int failed = open_book(&book, e);

	/* The secret must not stay in a buffer of stdio. */
	setvbuf(stdout, NULL, _IONBF, 0);
	if (failed == 0)
		failed = add(&book, arguments[0], e);
	close_book(&book);
	return failed;
}

/* ---- list ---- */

static void
print(const struct token *token)
{
	const struct identity *who = &token->identity;
	char scopes[SCOPES_TEXT], expires[TIMESTAMP_TEXT] = "never";
	struct timespec ends = { .tv_sec = (time_t)who->expires_s };

	if (ends.tv_sec != 0)
		timestamp_text(ends, 0, expires);
	scope_text(who->scopes, scopes);
	printf("%s\t%s\t%s\t%s\t%s%s\n", token->name, who->owner.principal,
	    who->owner.namespace[0] != '\0' ? who->owner.namespace : "-",
	    scopes[0] != '\0' ? scopes : "-", expires,
	    ends.tv_sec != 0 && ends.tv_sec <= time(NULL) ? " (expired)" : "");
}

int
token_on_list(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	struct book book = { .directory.fd = -1 };
	int failed = open_book(&book, e);

	(void)arguments;
	if (failed == 0) {
		puts("NAME\tPRINCIPAL\tNAMESPACE\tSCOPES\tEXPIRES");
		for (size_t i = 0; i < book.tokens.count; i++)
			print(&book.tokens.items[i]);
	}
	close_book(&book);
	return failed;
}

/* ---- remove ---- */

/* Each line that is an entry corresponds to the next token. */
static int
cut(const struct book *book, const struct token *out, struct err *e)
{
	auto_free char *left = malloc(book->text.size + 1);
	const char *at = book->text.data, *end = at + book->text.size;
	const struct token *token = book->tokens.items;
	size_t size = 0;

	if (left == NULL)
		return err_sys(e, "tokens");
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
	return access_store(&book->directory, AUTH_TOKENS, left, size, e);
}

int
token_on_remove(char *const arguments[ACCESS_ARGUMENTS], struct err *e)
{
	struct book book = { .directory.fd = -1 };
	int failed = open_book(&book, e);

	if (failed == 0) {
		const struct token *out = tokens_by_name(&book.tokens, arguments[0]);

		failed = out != NULL
		             ? cut(&book, out, e)
		             : err_set(e, ERR_not_found,
				   "no token has the name %.64s; `cloister token list` lists them",
				   arguments[0]);
	}
	close_book(&book);
	return failed;
}
