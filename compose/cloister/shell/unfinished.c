/* SPDX-License-Identifier: Apache-2.0 */
/* unfinished.c - a scanner of quotes and comments for three languages; trusts nothing. */
#include "compose/cloister/shell/unfinished.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <string.h>

/* How each language writes what a scanner must skip. */
static const struct quoting {
	const char *quotes;  /* each ends with itself */
	const char *lines;   /* quotes that end with the line, too */
	const char *comment; /* up to the end of the line */
	bool triple;         /* three of a quote begin what only three end */
} quotings[language_COUNT] = {
	[language_python] = { "'\"", "'\"", "#", true },
	[language_node] = { "'\"`", "'\"", "//", false },
	[language_shell] = { "'\"", "", "#", false },
};

struct scan {
	const struct quoting *how;
	const char *at;
	int brackets, blocks; /* blocks: of the shell's words */
	bool open;            /* a quote, or the line goes on */
	bool colon;           /* a line ends with a colon */
	bool command;         /* a word here is a command's, or opens a block */
	char before, last;    /* the last characters that are no blank and no comment */
};

/* Skips a quoted text; at the quote. */
static void
skip_quoted(struct scan *s)
{
	char quote = *s->at;
	bool three = s->how->triple && s->at[1] == quote && s->at[2] == quote;
	bool in_line = !three && strchr(s->how->lines, quote) != NULL;

	s->at += three ? 3 : 1;
	for (; *s->at != '\0' && !(in_line && *s->at == '\n'); s->at++) {
		bool raw = s->how == &quotings[language_shell] && quote == '\'';

		if (*s->at == '\\' && s->at[1] != '\0' && !raw)
			s->at++;
		else if (*s->at == quote && (!three || (s->at[1] == quote && s->at[2] == quote))) {
			s->at += three ? 3 : 1;
			return;
		}
	}
	s->open |= !in_line;
}

static void
skip_line(struct scan *s)
{
	s->at += strcspn(s->at, "\n");
}

static bool
begins_comment(const struct scan *s, const char *text)
{
	bool behind_blank = s->at == text || isspace((unsigned char)s->at[-1]) || s->at[-1] == ';';

	return strncmp(s->at, s->how->comment, strlen(s->how->comment)) == 0 &&
	       (s->how->comment[0] != '#' || s->how->triple || behind_blank);
}

/* ---- words of the shell ---- */

static bool
is_word(const char *at, size_t size, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strlen(*words) == size && memcmp(at, *words, size) == 0)
			return true;
	return false;
}

static size_t
word_size(const char *at)
{
	return strcspn(at, " \t\n;&|()<>'\"`$\\");
}

static void
remember(struct scan *s, char c)
{
	s->before = s->last;
	s->last = c;
}

static void
take_word(struct scan *s, size_t size)
{
	static const char *const opens[] = { "do", "if", "case", "{", NULL };
	static const char *const closes[] = { "done", "fi", "esac", "}", NULL };
	static const char *const goes_on[] = { "then", "else", "elif", "do", "{", "if", "while",
		"until", "!", "time", NULL };

	s->blocks += s->command && is_word(s->at, size, opens);
	s->blocks -= s->command && is_word(s->at, size, closes);
	s->command = s->command && is_word(s->at, size, goes_on);
	remember(s, s->at[size - 1]);
	s->at += size;
}

/* ---- all of it ---- */

/* A bracket that closes none is a pattern of case, or an error that the language names. */
static void
count_bracket(struct scan *s, char c)
{
	s->brackets += strchr("([{", c) != NULL;
	s->brackets -= strchr(")]}", c) != NULL && s->brackets > 0;
}

static void
take_character(struct scan *s)
{
	char c = *s->at++;

	if (c == '\\' && *s->at == '\n') {
		s->at++;
		s->open |= *s->at == '\0';
		return;
	}
	count_bracket(s, c);
	if (c == '\n')
		s->colon |= s->last == ':' && s->brackets == 0;
	if (strchr("\n;&|(", c) != NULL)
		s->command = true;
	if (!isspace((unsigned char)c))
		remember(s, c);
}

static void
take(struct scan *s, const char *text)
{
	size_t size = s->how == &quotings[language_shell] ? word_size(s->at) : 0;

	if (begins_comment(s, text)) {
		skip_line(s);
	} else if (strchr(s->how->quotes, *s->at) != NULL) {
		skip_quoted(s);
		remember(s, '"');
	} else if (size > 0) {
		take_word(s, size);
	} else {
		take_character(s);
	}
}

static bool
ends_with_blank_line(const char *text)
{
	size_t size = strlen(text), blank = 0;

	while (blank < size && isspace((unsigned char)text[size - 1 - blank]))
		blank++;
	return memchr(text + size - blank, '\n', blank) !=
	       memrchr(text + size - blank, '\n', blank);
}

bool
unfinished(int language, const char *text)
{
	struct scan s = { .how = &quotings[language], .at = text, .command = true };

	while (*s.at != '\0')
		take(&s, text);
	if (s.open || s.brackets > 0 || s.blocks > 0)
		return true;
	/* A block of Python ends with a blank line. */
	if (language == language_python)
		return (s.colon || text[0] == '@') && !ends_with_blank_line(text);
	return language == language_shell && (s.last == '|' || (s.last == '&' && s.before == '&'));
}
