/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pip_lines.c - reads code line by line, not as Python: none of these lines is Python outside of a
 * string.  A program can at most ask so for packages that it could ask for anyway.
 */
#include "executor/run/pip_lines.h"

#include "common/base/auto.h"

#include <stdbool.h>
#include <string.h>

enum {
	WORD = 256,
};

static const char *const beginnings[] = { "!pip install ", "!pip3 install ", "%pip install ",
	"%pip3 install ", "!python -m pip install ", "!python3 -m pip install ",
	"!{sys.executable} -m pip install " };

/* They make no difference here. */
static const char *const ignored[] = { "-q", "-qq", "-qqq", "--quiet", "-U", "--upgrade", "--user",
	"--no-cache-dir", "--break-system-packages", "--disable-pip-version-check",
	"--root-user-action=ignore", ">/dev/null", "2>/dev/null", "&>/dev/null", "2>&1", ">",
	"/dev/null" };

static bool
is_ignored(const char *word)
{
	for (size_t i = 0; i < COUNT(ignored); i++)
		if (strcmp(ignored[i], word) == 0)
			return true;
	return false;
}

/* What follows the beginning of such a line; NULL: it is another line. */
static const char *
arguments_of(const char *line, const char *end)
{
	for (size_t i = 0; i < COUNT(beginnings); i++) {
		size_t size = strlen(beginnings[i]);

		if ((size_t)(end - line) > size && memcmp(line, beginnings[i], size) == 0)
			return line + size;
	}
	return NULL;
}

/* The next word without its quotes; its size, 0: there is none, or it is too long. */
static size_t
next_word(const char **at, const char *end, char word[WORD])
{
	size_t n = 0;
	char quote = 0;

	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		++*at;
	if (*at < end && **at == '#')
		*at = end;
	for (; *at < end && n < WORD - 1; ++*at) {
		if (quote == 0 && (**at == ' ' || **at == '\t' || **at == '\r'))
			break;
		if (**at == quote)
			quote = 0;
		else if (quote == 0 && (**at == '"' || **at == '\''))
			quote = **at;
		else
			word[n++] = **at;
	}
	word[n] = '\0';
	return n < WORD - 1 ? n : 0;
}

/* 1: all of the line was understood, and found is what it names. */
static int
read_line(const char *at, const char *end, struct texts *found, struct err *e)
{
	char word[WORD];

	while (next_word(&at, end, word) > 0) {
		if (is_ignored(word))
			continue;
		if (word[0] == '-' || strpbrk(word, "/$`|;&\\") != NULL)
			return 0;
		if (texts_add(found, word) < 0)
			return err_sys(e, "packages");
	}
	return found->count > 0;
}

static int
take_line(char *line, const char *end, struct texts *packages, struct err *e)
{
	const char *at = arguments_of(line, end);
	struct texts found = { 0 };
	int r = at == NULL ? 0 : read_line(at, end, &found, e);

	for (size_t i = 0; r > 0 && i < found.count; i++)
		if (texts_add(packages, found.items[i]) < 0)
			r = err_sys(e, "packages");
	if (r > 0)
		memset(line, ' ', (size_t)(end - line));
	texts_clear(&found);
	return r < 0 ? -1 : 0;
}

/* Does a string of several lines begin or end in this line?  One that does both is none. */
static bool
turns(const char *line, const char *end)
{
	bool turned = false;

	for (const char *at = line; at + 3 <= end; at++)
		if (memcmp(at, "\"\"\"", 3) == 0 || memcmp(at, "'''", 3) == 0) {
			turned = !turned;
			at += 2;
		}
	return turned;
}

int
pip_lines_take(struct blob *code, struct texts *packages, struct err *e)
{
	char *line = (char *)(uintptr_t)code->data, *end = line + code->size, *stop;
	bool in_string = false;

	if (memmem(line, code->size, "pip", 3) == NULL)
		return 0;
	for (; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop == NULL ? end : stop;
		if (!in_string && (*line == '!' || *line == '%') &&
		    take_line(line, stop, packages, e) < 0)
			return -1;
		in_string ^= turns(line, stop);
	}
	return 0;
}
