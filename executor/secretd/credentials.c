/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.c - reads a netrc file; trusts the operator, but not that the file is well-formed. */
#include "executor/secretd/credentials.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>

#define SCHEME "Basic "
#define BEARER "Bearer "

_Static_assert(CREDENTIALS_VALUE >= sizeof SCHEME + sodium_base64_ENCODED_LEN(2 * CREDENTIALS_WORD,
							sodium_base64_VARIANT_ORIGINAL),
    "a value has room for the longest login and password");

/* All of it is wiped. */
struct reading {
	const char *at, *end;
	unsigned line;
	unsigned machine; /* line of the current entry; 0: none */
	char word[CREDENTIALS_WORD], login[CREDENTIALS_WORD];
	bool token;               /* the current entry has one, in the place of a password */
	struct credential *entry; /* the current one, in *to */
	struct credentials *to;
};

static int
refuse(const struct reading *r, struct err *e, const char *why)
{
	return err_set(e, ERR_invalid_argument, "line %u: %s", r->line, why);
}

/* ---- words ---- */

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_space(struct reading *r)
{
	for (; r->at < r->end && is_space(*r->at); r->at++)
		r->line += *r->at == '\n';
}

static void
skip_line(struct reading *r)
{
	while (r->at < r->end && *r->at != '\n')
		r->at++;
}

/* One character of a word.  1: it is in *c. 0: the word has ended before it. */
static int
next_character(struct reading *r, bool quoted, char *c, struct err *e)
{
	if (r->at == r->end)
		return quoted ? refuse(r, e, "a quote is not closed") : 0;
	*c = *r->at;
	if (quoted ? *c == '"' : is_space(*c))
		return 0;
	if (*c == '\\' && (!quoted || r->end - r->at < 2 || (r->at[1] != '"' && r->at[1] != '\\')))
		return refuse(
		    r, e, "programs read this backslash differently; write \\\\ or \\\" in quotes");
	if (*c == '"' && !quoted)
		return refuse(r, e, "a quote within a word; put the whole word in quotes");
	if (*c == '\\')
		*c = *++r->at;
	if ((unsigned char)*c < ' ' || *c == 0x7f)
		return refuse(r, e, "a control character");
	r->at++;
	return 1;
}

/* The next word into r->word. 1: there is one. 0: the end of the text. */
static int
next_word(struct reading *r, struct err *e)
{
	size_t n = 0;
	int more;

	skip_space(r);
	if (r->at == r->end)
		return 0;

	bool quoted = *r->at == '"';

	r->at += quoted;
	while ((more = next_character(r, quoted, &r->word[n], e)) > 0)
		if (++n == sizeof r->word)
			return refuse(r, e, "a word of more than 1023 bytes");
	if (more < 0)
		return -1;
	r->word[n] = '\0';
	r->at += quoted;
	return quoted && r->at < r->end && !is_space(*r->at)
	           ? refuse(r, e, "no space behind a quoted word")
	           : 1;
}

/* ---- entries ---- */

static void
write_basic(struct reading *r)
{
	char both[2 * CREDENTIALS_WORD];
	size_t login = strlen(r->login), password = strlen(r->entry->password);

	memcpy(both, r->login, login);
	both[login] = ':';
	memcpy(both + login + 1, r->entry->password, password);
	memcpy(r->entry->value, SCHEME, sizeof SCHEME);
	sodium_bin2base64(r->entry->value + strlen(SCHEME), CREDENTIALS_VALUE - strlen(SCHEME),
	    (const unsigned char *)both, login + 1 + password, sodium_base64_VARIANT_ORIGINAL);
	sodium_memzero(both, sizeof both);
}

static void
write_bearer(struct reading *r)
{
	memcpy(r->entry->value, BEARER, sizeof BEARER);
	memcpy(
	    r->entry->value + strlen(BEARER), r->entry->password, strlen(r->entry->password) + 1);
}

/* The header's value is made when all parts are known. */
static int
finish(struct reading *r, struct err *e)
{
	if (r->machine == 0)
		return 0;
	if (!r->token && (r->login[0] == '\0' || r->entry->password[0] == '\0'))
		return err_set(e, ERR_invalid_argument, "line %u: this machine has no %s",
		    r->machine, r->login[0] == '\0' ? "login" : "password");
	if (r->token && r->login[0] != '\0')
		return err_set(e, ERR_invalid_argument,
		    "line %u: this machine has a login beside a token", r->machine);
	r->token ? write_bearer(r) : write_basic(r);
	sodium_memzero(r->login, sizeof r->login);
	r->machine = 0;
	r->token = false;
	return 0;
}

static int
take_machine(struct reading *r, struct err *e)
{
	if (finish(r, e) < 0)
		return -1;
	if (strlen(r->word) >= DOMAIN_NAME || !domain_is_name(r->word))
		return refuse(r, e, "machine needs the name of a host, without a port");
	if (credentials_find(r->to, r->word) != NULL)
		return refuse(r, e, "this machine occurs twice");
	if (r->to->count == CREDENTIALS_MAX)
		return refuse(r, e, "more than 256 machines");
	r->entry = sodium_malloc(sizeof *r->entry);
	if (r->entry == NULL)
		return err_sys(e, "guarded memory");
	sodium_memzero(r->entry, sizeof *r->entry);
	memcpy(r->entry->name, r->word, strlen(r->word) + 1);
	r->to->all[r->to->count++] = r->entry;
	r->machine = r->line;
	return 0;
}

static int
take_login(struct reading *r, struct err *e)
{
	if (r->machine == 0 || r->login[0] != '\0')
		return refuse(r, e, r->machine == 0 ? "login before a machine" : "a second login");
	if (r->word[0] == '\0' || strchr(r->word, ':') != NULL)
		return refuse(r, e, "a login cannot be empty, or have a colon");
	memcpy(r->login, r->word, sizeof r->login);
	return 0;
}

static int
take_password(struct reading *r, struct err *e)
{
	if (r->machine == 0 || r->entry->password[0] != '\0')
		return refuse(
		    r, e, r->machine == 0 ? "password before a machine" : "a second password");
	if (strlen(r->word) < CREDENTIALS_SHORTEST)
		return refuse(r, e, "a password of fewer than 8 bytes occurs in answers by chance");
	memcpy(r->entry->password, r->word, sizeof r->entry->password);
	return 0;
}

/* What a token may have (RFC 6750, 2.1), so it can be nothing else in a header. */
static int
take_token(struct reading *r, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-._~+/=";

	if (r->word[strspn(r->word, allowed)] != '\0')
		return refuse(r, e, "a token has letters, digits and -._~+/= only");
	if (take_password(r, e) < 0)
		return -1;
	r->token = true;
	return 0;
}

static int
refuse_default(struct reading *r, struct err *e)
{
	return refuse(r, e, "\"default\" would send credentials to every name; name each machine");
}

static int
refuse_macro(struct reading *r, struct err *e)
{
	return refuse(r, e, "\"macdef\" is for FTP");
}

/* argument: a word follows, which take() finds in r->word. */
static const struct {
	const char *name;
	bool argument;
	int (*take)(struct reading *, struct err *);
} keywords[] = {
	{ "machine", true, take_machine },
	{ "login", true, take_login },
	{ "password", true, take_password },
	{ "token", true, take_token },
	{ "default", false, refuse_default },
	{ "macdef", false, refuse_macro },
};

/* 1: there may be more. */
static int
read_pair(struct reading *r, struct err *e)
{
	size_t i = 0;
	int more = next_word(r, e);

	if (more <= 0)
		return more;
	if (r->word[0] == '#') {
		skip_line(r);
		return 1;
	}
	while (i < COUNT(keywords) && strcmp(keywords[i].name, r->word) != 0)
		i++;
	if (i == COUNT(keywords))
		return refuse(r, e, "expected machine, login, password or token");
	if (keywords[i].argument) {
		more = next_word(r, e);
		if (more <= 0)
			return more < 0 ? -1 : refuse(r, e, "the last word has no value");
	}
	return keywords[i].take(r, e) < 0 ? -1 : 1;
}

int
credentials_read(const char *text, size_t size, struct credentials *to, struct err *e)
{
	struct reading r = { .at = text, .end = text + size, .line = 1, .to = to };
	int more;

	*to = (struct credentials){ 0 };
	if (sodium_init() < 0)
		return err_set(e, ERR_internal, "libsodium does not start");
	while ((more = read_pair(&r, e)) > 0)
		;
	if (more == 0)
		more = finish(&r, e);
	sodium_memzero(&r, sizeof r);
	if (more < 0)
		credentials_clear(to);
	return more;
}

/* ---- the file ---- */

int
credentials_load(const char *path, struct credentials *to, struct err *e)
{
	struct blob text = { 0 };
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status;

	*to = (struct credentials){ 0 };
	if (fd < 0)
		return err_sys(e, "open %s", path);
	if (fdio_check_private(fd, e) < 0 ||
	    fdio_load_open(fd, path, CREDENTIALS_BYTES, &text, e) < 0)
		return err_add(e, "%s", path);
	status = credentials_read(text.data, text.size, to, e);
	sodium_memzero(text.data, text.size);
	blob_clear(&text);
	return status < 0 ? err_add(e, "%s", path) : 0;
}

const struct credential *
credentials_find(const struct credentials *credentials, const char *name)
{
	for (size_t i = 0; i < credentials->count; i++)
		if (strcmp(credentials->all[i]->name, name) == 0)
			return credentials->all[i];
	return NULL;
}

void
credentials_keep(struct credentials *credentials, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < credentials->count; i++)
		if (strcmp(credentials->all[i]->name, name) == 0)
			credentials->all[kept++] = credentials->all[i];
		else
			sodium_free(credentials->all[i]);
	credentials->count = kept;
}

void
credentials_clear(struct credentials *credentials)
{
	credentials_keep(credentials, "");
}
