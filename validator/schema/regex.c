/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex.c - rewrites a pattern of ECMA-262 as one that means the same to PCRE2.
 *
 * Trusts no pattern.  Only what ECMA-262 has is passed on, so that no verb, recursion, callout or
 * inline option of PCRE2 can be written.  A match that would take too many steps is an error.
 * The jail forbids memory that is writable and executable, so patterns are interpreted.
 */
#include "validator/schema/regex.h"

#include "validator/schema/simple.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	MAX_PATTERN = 8192,
	MAX_NESTING = 100,
	MAX_STEPS = 200000, /* of a match; some milliseconds */
	MAX_HEAP_KB = 8192,
	VARIABLE_LOOKBEHIND = 125, /* PCRE2 10.43 gives the code another name */
};

#define SPACE \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}" \
	"\\x{205f}\\x{3000}\\x{feff}"
#define NOT_SPACE \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}" \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

/* General categories by their long names, which PCRE2 does not know. */
static const struct {
	const char *name, *category;
} categories[] = {
	{ "Letter", "L" },
	{ "Cased_Letter", "L&" },
	{ "Uppercase_Letter", "Lu" },
	{ "Lowercase_Letter", "Ll" },
	{ "Titlecase_Letter", "Lt" },
	{ "Modifier_Letter", "Lm" },
	{ "Other_Letter", "Lo" },
	{ "Mark", "M" },
	{ "Nonspacing_Mark", "Mn" },
	{ "Spacing_Mark", "Mc" },
	{ "Enclosing_Mark", "Me" },
	{ "Number", "N" },
	{ "Decimal_Number", "Nd" },
	{ "digit", "Nd" },
	{ "Letter_Number", "Nl" },
	{ "Other_Number", "No" },
	{ "Punctuation", "P" },
	{ "punct", "P" },
	{ "Connector_Punctuation", "Pc" },
	{ "Dash_Punctuation", "Pd" },
	{ "Open_Punctuation", "Ps" },
	{ "Close_Punctuation", "Pe" },
	{ "Initial_Punctuation", "Pi" },
	{ "Final_Punctuation", "Pf" },
	{ "Other_Punctuation", "Po" },
	{ "Symbol", "S" },
	{ "Math_Symbol", "Sm" },
	{ "Currency_Symbol", "Sc" },
	{ "Modifier_Symbol", "Sk" },
	{ "Other_Symbol", "So" },
	{ "Separator", "Z" },
	{ "Space_Separator", "Zs" },
	{ "Line_Separator", "Zl" },
	{ "Paragraph_Separator", "Zp" },
	{ "Other", "C" },
	{ "Control", "Cc" },
	{ "Format", "Cf" },
	{ "Surrogate", "Cs" },
	{ "Private_Use", "Co" },
	{ "Unassigned", "Cn" },
};

struct regex {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	struct simple simple;
};

/* What is left of a pattern, and its translation. */
struct reader {
	const char *at, *end;
	FILE *to;
	bool in_class;
	bool atom;              /* a quantifier may follow */
	unsigned depth, behind; /* of groups; of the lookbehind that was opened last, 0: none */
	enum { NOT_FIRST, BEFORE_FIRST, AFTER_FIRST } first; /* in an alternative of it */
	const char *fault;
};

static void
refuse(struct reader *r, const char *fault)
{
	if (r->fault == NULL)
		r->fault = fault;
	r->at = r->end;
}

static bool
skip(struct reader *r, const char *text)
{
	size_t size = strlen(text);

	if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0)
		return false;
	r->at += size;
	return true;
}

/* ---- escapes ---- */

static bool
hexadecimal(struct reader *r, int digits, uint32_t *value)
{
	*value = 0;
	if (r->end - r->at < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		char c = r->at[i];

		if (!isxdigit((unsigned char)c))
			return false;
		*value = *value * 16 +
		         (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	r->at += digits;
	return true;
}

static bool
braced(struct reader *r, uint32_t *value)
{
	*value = 0;
	while (r->at < r->end && isxdigit((unsigned char)*r->at) && *value <= 0x10ffff) {
		char c = *r->at++;

		*value = *value * 16 +
		         (uint32_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	return *value <= 0x10ffff && r->at[-1] != '{' && skip(r, "}");
}

/* After \u: one character, which may be written as two surrogates. */
static void
unicode(struct reader *r)
{
	uint32_t code, low;

	if (skip(r, "{") ? !braced(r, &code) : !hexadecimal(r, 4, &code)) {
		refuse(r, "\\u needs four hexadecimal digits");
		return;
	}
	const char *before = r->at;
	if (code >= 0xd800 && code < 0xdc00 && skip(r, "\\u") && hexadecimal(r, 4, &low) &&
	    low >= 0xdc00 && low < 0xe000)
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	else
		r->at = before;
	if (code >= 0xd800 && code < 0xe000)
		refuse(r, "half of a surrogate pair");
	else
		fprintf(r->to, "\\x{%x}", code);
}

/* After \p or \P: {Letter}, {L}, {gc=L}, {Script=Greek}, {sc=Greek}. */
static void
property(struct reader *r, char letter)
{
	char name[64];
	size_t size = 0;

	if (!skip(r, "{")) {
		refuse(r, "\\p needs a name in braces");
		return;
	}
	if (!skip(r, "General_Category=") && !skip(r, "gc=") && !skip(r, "Script=") &&
	    !skip(r, "Script_Extensions=") && !skip(r, "sc="))
		skip(r, "scx=");
	while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_') &&
	       size < sizeof name - 1)
		name[size++] = *r->at++;
	name[size] = '\0';
	if (size == 0 || !skip(r, "}")) {
		refuse(r, "\\p needs a name in braces");
		return;
	}
	const char *short_name = name;
	for (size_t i = 0; i < COUNT(categories); i++)
		if (strcmp(categories[i].name, name) == 0)
			short_name = categories[i].category;
	fprintf(r->to, "\\%c{%s}", letter, strcmp(name, "ASCII") == 0 ? "Any" : short_name);
	if (strcmp(name, "ASCII") == 0)
		refuse(r, "\\p{ASCII} is not supported; write [\\x00-\\x7f]");
}

/* Escapes for one character, and what PCRE2 writes. */
static bool
control(struct reader *r, char c)
{
	static const char letters[] = "tnrfv", *const codes[] = { "9", "a", "d", "c", "b" };
	const char *found = strchr(letters, c);
	uint32_t code;

	if (found != NULL)
		fprintf(r->to, "\\x{%s}", codes[found - letters]);
	else if (c == '0' && (r->at == r->end || !isdigit((unsigned char)*r->at)))
		fputs("\\x{0}", r->to);
	else if (c == 'c' && r->at < r->end && isalpha((unsigned char)*r->at))
		fprintf(r->to, "\\x{%x}", *r->at++ & 31);
	else if (c == 'x' && hexadecimal(r, 2, &code))
		fprintf(r->to, "\\x{%x}", code);
	else if (c == 'u')
		unicode(r);
	else
		return false;
	return true;
}

/* Escapes for several characters. */
static bool
set(struct reader *r, char c)
{
	if (c == 's' || c == 'S')
		fprintf(r->to, r->in_class ? "%s" : "[%s]", c == 's' ? SPACE : NOT_SPACE);
	else if (strchr("dDwW", c) != NULL)
		fprintf(r->to, "\\%c", c);
	else if (c == 'p' || c == 'P')
		property(r, c);
	else
		return false;
	return true;
}

/* After \k: <name>. */
static void
named(struct reader *r)
{
	const char *close = memchr(r->at, '>', (size_t)(r->end - r->at));

	if (!skip(r, "<") || close == NULL) {
		refuse(r, "\\k needs the name of a group in <>");
		return;
	}
	fprintf(r->to, "\\k<%.*s>", (int)(close - r->at), r->at);
	r->at = close + 1;
}

static void
escape(struct reader *r)
{
	if (r->at == r->end) {
		refuse(r, "ends in \\");
		return;
	}
	char c = *r->at++;
	r->atom = true;
	if (c == '\0' || (unsigned char)c >= 0x80) {
		refuse(r, "\\ before a character that needs none");
	} else if (control(r, c) || set(r, c)) {
		return;
	} else if (!r->in_class && (c == 'b' || c == 'B')) {
		r->atom = false;
		fprintf(r->to, "\\%c", c);
	} else if (r->in_class && c == 'b') {
		fputs("\\x{8}", r->to);
	} else if (!r->in_class && c == 'k') {
		named(r);
	} else if (!r->in_class && isdigit((unsigned char)c)) {
		fprintf(r->to, "\\g{%c", c);
		while (r->at < r->end && isdigit((unsigned char)*r->at))
			fputc(*r->at++, r->to);
		fputc('}', r->to);
	} else if (isalnum((unsigned char)c)) {
		refuse(r, "an escape that ECMA-262 does not have");
	} else {
		fprintf(r->to, "\\%c", c);
	}
}

/* ---- the rest ---- */

/* An empty class matches nothing, but may be there zero times: PCRE2 would not allow that. */
static void class(struct reader *r)
{
	if (skip(r, "]")) {
		fputs("(?:(?!))", r->to);
		return;
	}
	fputc('[', r->to);
	if (skip(r, "^"))
		fputc('^', r->to);
	r->in_class = true;
	while (r->at < r->end && *r->at != ']') {
		char c = *r->at++;

		if (c == '\\')
			escape(r);
		else if (c == '[')
			fputs("\\[", r->to);
		else
			fputc(c, r->to);
	}
	r->in_class = false;
	r->atom = true;
	if (r->fault == NULL && !skip(r, "]"))
		refuse(r, "[ without ]");
	fputc(']', r->to);
}

static void
group(struct reader *r)
{
	static const char *const kinds[] = { "?:", "?=", "?!", "?<=", "?<!" };

	fputc('(', r->to);
	r->atom = false;
	if (r->at < r->end && *r->at == '*') {
		refuse(r, "nothing to repeat");
		return;
	}
	if (r->at == r->end || *r->at != '?')
		return;
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (skip(r, kinds[i])) {
			fputs(kinds[i], r->to);
			if (kinds[i][1] == '<') {
				r->behind = r->depth;
				r->first = BEFORE_FIRST;
			}
			return;
		}
	if (!skip(r, "?<") || r->at == r->end ||
	    !(isalpha((unsigned char)*r->at) || *r->at == '_')) {
		refuse(r, "a group that ECMA-262 does not have");
		return;
	}
	fputs("?<", r->to);
	while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_'))
		fputc(*r->at++, r->to);
	if (!skip(r, ">"))
		refuse(r, "a group's name has letters and digits only");
	fputc('>', r->to);
}

/* {2}, {2,} or {2,3}; its size, 0: an ordinary brace. */
static size_t
count_size(const struct reader *r)
{
	const char *c = r->at + 1;

	while (c < r->end && isdigit((unsigned char)*c))
		c++;
	if (c == r->at + 1)
		return 0;
	if (c < r->end && *c == ',')
		for (c++; c < r->end && isdigit((unsigned char)*c);)
			c++;
	return c < r->end && *c == '}' ? (size_t)(c + 1 - r->at) : 0;
}

/*
 * What a lookbehind begins with may be there more often than it must: (?<=a{2,}b) is (?<=a{2}b),
 * because nothing says where it begins. PCRE2 asks for a fixed length. A group is left as it is,
 * because it may capture.
 */
static void
put_least(struct reader *r, size_t size)
{
	char *end;
	unsigned long least = *r->at == '{' ? strtoul(r->at + 1, &end, 10) : *r->at == '+';
	bool wrong = *r->at == '{' && *end == ',' && isdigit((unsigned char)end[1]) &&
	             strtoul(end + 1, NULL, 10) < least;

	if (wrong) /* PCRE2 says so */
		fprintf(r->to, "%.*s", (int)size, r->at);
	else
		fprintf(r->to, "{%lu}", least);
}

static void
quantifier(struct reader *r, size_t size)
{
	bool least = r->first == AFTER_FIRST;

	if (!r->atom) {
		refuse(r, "nothing to repeat");
		return;
	}
	if (least)
		put_least(r, size);
	else
		fprintf(r->to, "%.*s", (int)size, r->at);
	r->at += size;
	if (skip(r, "?") && !least)
		fputc('?', r->to);
	r->atom = false;
	r->first = NOT_FIRST;
}

/* Keeps account of groups, and of what begins a lookbehind; c was read. */
static void
follow(struct reader *r, char c)
{
	bool rest_of_character = ((unsigned char)c & 0xc0) == 0x80;

	if (c == '(') {
		r->depth++;
		r->first = NOT_FIRST;
	} else if (c == ')' || c == '|') {
		bool outermost = r->behind > 0 && r->depth == r->behind;

		r->first = c == '|' && outermost ? BEFORE_FIRST : NOT_FIRST;
		r->behind = c == ')' && outermost ? 0 : r->behind;
		r->depth -= c == ')' && r->depth > 0;
	} else if (!rest_of_character) {
		bool begins = r->first == BEFORE_FIRST && c != '^' && c != '$';

		r->first = begins ? AFTER_FIRST : NOT_FIRST;
	}
}

static void
element(struct reader *r)
{
	char c = *r->at;
	size_t size = c == '{' ? count_size(r) : strchr("*+?", c) != NULL && c != '\0';

	if (size > 0) {
		quantifier(r, size);
		return;
	}
	r->at++;
	follow(r, c);
	r->atom = strchr("^|", c) == NULL;
	if (c == '\\')
		escape(r);
	else if (c == '[')
		class(r);
	else if (c == '(')
		group(r);
	else if (c == '.')
		fputs("[^\\x{a}\\x{d}\\x{2028}\\x{2029}]", r->to);
	else if (c == '$')
		fputs("\\z", r->to);
	else if (c == '^')
		fputs("\\A", r->to);
	else if (c == '{' || c == '}' || c == ']' || c == '#')
		fprintf(r->to, "\\%c", c);
	else
		fputc(c, r->to);
	if (c == '$')
		r->atom = false;
}

static int
translate(const char *pattern, size_t size, char **text, size_t *length, struct err *e)
{
	struct reader r = { .at = pattern, .end = pattern + size };

	r.to = open_memstream(text, length);
	if (r.to == NULL)
		return err_sys(e, "translate a pattern");
	while (r.at < r.end)
		element(&r);
	if (fclose(r.to) != 0)
		return err_sys(e, "translate a pattern");
	if (r.fault != NULL)
		return err_set(e, ERR_schema_invalid, "pattern %.80s: %s", pattern, r.fault);
	return 0;
}

static pcre2_code *
compile(const char *pattern, const char *text, size_t length, struct err *e)
{
	const uint32_t options = PCRE2_UTF | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
	                         PCRE2_NEVER_BACKSLASH_C;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR why[120];
	PCRE2_SIZE at;
	int fault;

	must(context != NULL);
	pcre2_set_parens_nest_limit(context, MAX_NESTING);
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, length, options, &fault, &at, context);
	pcre2_compile_context_free(context);
	if (code != NULL)
		return code;
	if (fault == VARIABLE_LOOKBEHIND) {
		err_set(e, ERR_schema_invalid,
		    "pattern %.80s: a lookbehind of variable length is not supported; write "
		    "alternatives of fixed length, as in (?<=a|aa)",
		    pattern);
		return NULL;
	}
	pcre2_get_error_message(fault, why, sizeof why);
	err_set(e, ERR_schema_invalid, "pattern %.80s: %s", pattern, (const char *)why);
	return NULL;
}

struct regex *
regex_new(const char *pattern, size_t size, struct err *e)
{
	auto_free char *text = NULL;
	size_t length = 0;

	if (size > MAX_PATTERN) {
		err_set(e, ERR_limit_exceeded,
		    "pattern: %zu bytes are over the limit of %d; shorten the pattern", size,
		    MAX_PATTERN);
		return NULL;
	}
	if (translate(pattern, size, &text, &length, e) < 0)
		return NULL;
	pcre2_code *code = compile(pattern, text, length, e);
	if (code == NULL)
		return NULL;
	struct regex *regex = calloc(1, sizeof *regex);
	must(regex != NULL);
	regex->code = code;
	regex->simple = simple_read(pattern, size);
	regex->data = pcre2_match_data_create(1, NULL);
	regex->context = pcre2_match_context_create(NULL);
	must(regex->data != NULL && regex->context != NULL);
	pcre2_set_match_limit(regex->context, MAX_STEPS);
	pcre2_set_heap_limit(regex->context, MAX_HEAP_KB);
	return regex;
}

void
regex_free(struct regex *regex)
{
	if (regex == NULL)
		return;
	pcre2_match_context_free(regex->context);
	pcre2_match_data_free(regex->data);
	pcre2_code_free(regex->code);
	free(regex);
}

int
regex_match(const struct regex *regex, const char *text, size_t size, struct err *e)
{
	int got = simple_match(&regex->simple, text, size);

	if (got >= 0)
		return got;
	/* Jansson has checked that the text is UTF-8. */
	got = pcre2_match(regex->code, (PCRE2_SPTR)text, size, 0, PCRE2_NO_UTF_CHECK, regex->data,
	    regex->context);

	if (got >= 0)
		return 1;
	if (got == PCRE2_ERROR_NOMATCH)
		return 0;
	return err_set(e, ERR_limit_exceeded,
	    "a match takes more than %d steps; write it without nested or adjacent repetition",
	    MAX_STEPS);
}
