/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.c - libedit on a terminal, getline() elsewhere.
 *
 * Trusts the user.  Names for completion come from programs in boxes: only those of plain letters
 * reach the terminal.
 */
#include "compose/cloister/shell/prompt.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

enum {
	REMEMBERED = 1000,
	MAX_NAME = 64,
};

#define HISTORY_FILE "shell_history"

struct prompt {
	EditLine *edit; /* NULL: stdin is no terminal */
	History *history;
	HistEvent event;
	const char *text;
	const struct texts *names;
	char *line; /* without a terminal */
	size_t room;
	sigset_t usual; /* signals that are blocked outside of a line */
	FILE *kept;     /* the history's file; NULL: none */
};

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- completion ---- */

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool
fits(const char *name, const char *begun, size_t size)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++)
		if (!is_name(name[i]))
			return false;
	return length < MAX_NAME && length >= size && strncmp(name, begun, size) == 0;
}

/* What all names that begin so have in common, behind that; the number of names. */
static size_t
common_rest(const struct texts *names, const char *begun, size_t size, char rest[MAX_NAME])
{
	size_t found = 0;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];

		if (!fits(name, begun, size))
			continue;
		if (found++ == 0)
			snprintf(rest, MAX_NAME, "%s", name + size);
		for (size_t k = 0; rest[k] != '\0'; k++)
			if (rest[k] != name[size + k])
				rest[k] = '\0';
	}
	return found;
}

static void
show_names(const struct texts *names, const char *begun, size_t size)
{
	putchar('\n');
	for (size_t i = 0; i < names->count; i++)
		if (fits(names->items[i], begun, size))
			printf("%s  ", names->items[i]);
	putchar('\n');
}

/* A Tab where no name begins is four blanks. */
static unsigned char
complete(EditLine *edit, int key)
{
	struct prompt *p;
	const LineInfo *line = el_line(edit);
	const char *begun = line->cursor;
	char rest[MAX_NAME] = "";

	(void)key;
	el_get(edit, EL_CLIENTDATA, &p);
	while (begun > line->buffer && is_name(begun[-1]))
		begun--;

	size_t size = (size_t)(line->cursor - begun);
	size_t found = size > 0 ? common_rest(p->names, begun, size, rest) : 0;

	if (size == 0)
		return el_insertstr(edit, "    ") == 0 ? CC_REFRESH : CC_ERROR;
	if (rest[0] != '\0')
		return el_insertstr(edit, rest) == 0 ? CC_REFRESH : CC_ERROR;
	if (found < 2)
		return CC_ERROR;
	show_names(p->names, begun, size);
	return CC_REDISPLAY;
}

/* ---- the terminal ---- */

static char *
say_prompt(EditLine *edit)
{
	struct prompt *p;

	el_get(edit, EL_CLIENTDATA, &p);
	return (char *)(uintptr_t)p->text;
}

/* Reads a character. Ctrl-C is noticed here and nowhere else in a line, so none is missed. */
static int
get_character(EditLine *edit, wchar_t *character)
{
	struct prompt *p;
	mbstate_t state = { 0 };
	fd_set fds;
	char byte;

	el_get(edit, EL_CLIENTDATA, &p);
	FD_ZERO(&fds);
	FD_SET(STDIN_FILENO, &fds);
	if (pselect(STDIN_FILENO + 1, &fds, NULL, NULL, NULL, &p->usual) < 0)
		return -1;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		size_t got = mbrtowc(character, &byte, 1, &state);

		if (got == (size_t)-1)
			*character = L'?';
		if (got != (size_t)-2)
			return 1;
	}
	return 0;
}

/* One line of a statement each. */
static void
load_history(struct prompt *p, int state)
{
	int fd = state < 0 ? -1
	                   : openat(state, HISTORY_FILE,
				 O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	p->kept = fd < 0 ? NULL : fdopen(fd, "a+");
	history(p->history, &p->event, H_SETSIZE, REMEMBERED);
	history(p->history, &p->event, H_SETUNIQUE, 1);
	if (p->kept == NULL)
		return;
	rewind(p->kept);
	while (getline(&p->line, &p->room, p->kept) > 0)
		history(p->history, &p->event, H_ENTER, p->line);
}

static int
open_terminal(struct prompt *p, int state, struct err *e)
{
	p->edit = el_init("cloister", stdin, stdout, stderr);
	p->history = history_init();
	if (p->edit == NULL || p->history == NULL)
		return err_set(e, ERR_internal, "the terminal cannot be set up");
	load_history(p, state);
	el_set(p->edit, EL_CLIENTDATA, p);
	el_set(p->edit, EL_PROMPT, say_prompt);
	el_set(p->edit, EL_EDITOR, "emacs");
	el_set(p->edit, EL_HIST, history, p->history);
	el_set(p->edit, EL_ADDFN, "complete", "complete a name", complete);
	el_set(p->edit, EL_BIND, "^I", "complete", NULL);
	el_set(p->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_set(p->edit, EL_SIGNAL, 0);
	el_set(p->edit, EL_GETCFN, get_character);
	return 0;
}

struct prompt *
prompt_open(int state, const struct texts *names, struct err *e)
{
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct prompt *p = calloc(1, sizeof *p);

	must(p != NULL);
	p->names = names;
	if (!isatty(STDIN_FILENO))
		return p;
	setlocale(LC_CTYPE, "C.UTF-8");
	sigaction(SIGINT, &action, NULL);
	if (open_terminal(p, state, e) == 0)
		return p;
	prompt_close(p);
	return NULL;
}

bool
prompt_was_interrupted(void)
{
	bool was = interrupted != 0;

	interrupted = 0;
	return was;
}

static enum prompt_end
read_terminal(struct prompt *p, const char **line)
{
	sigset_t interrupt;
	int size = 0;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &p->usual);
	/* Before the prompt is shown, so that what is typed then is not for the terminal. */
	el_set(p->edit, EL_PREP_TERM, 1);
	/* Ctrl-C may have been pressed since the last line. */
	*line = interrupted ? NULL : el_gets(p->edit, &size);
	el_set(p->edit, EL_PREP_TERM, 0);
	sigprocmask(SIG_SETMASK, &p->usual, NULL);
	if (prompt_was_interrupted()) {
		el_reset(p->edit);
		putchar('\n');
		return PROMPT_INTERRUPTED;
	}
	return *line != NULL && size > 0 ? PROMPT_LINE : PROMPT_END;
}

enum prompt_end
prompt_read(struct prompt *p, const char *text, const char **line)
{
	p->text = text;
	if (p->edit != NULL)
		return read_terminal(p, line);
	if (getline(&p->line, &p->room, stdin) < 0)
		return PROMPT_END;
	*line = p->line;
	return PROMPT_LINE;
}

/* The lines of a statement are found one by one. */
void
prompt_remember(struct prompt *p, const char *statement)
{
	if (p->edit == NULL)
		return;
	for (size_t size; *statement != '\0'; statement += size) {
		auto_free char *line = NULL;

		size = strcspn(statement, "\n") + 1;
		must(asprintf(&line, "%.*s", (int)size, statement) > 0);
		history(p->history, &p->event, H_ENTER, line);
		if (p->kept != NULL)
			fputs(line, p->kept);
	}
	if (p->kept != NULL)
		fflush(p->kept);
}

void
prompt_close(struct prompt *p)
{
	if (p == NULL)
		return;
	if (p->edit != NULL)
		el_end(p->edit);
	if (p->history != NULL)
		history_end(p->history);
	if (p->kept != NULL)
		fclose(p->kept);
	free(p->line);
	free(p);
}
