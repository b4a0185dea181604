/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - reads a secret of the user, who is trusted; other users of the machine are not. */
#include "compose/cloister/secret.h"

#include "common/base/auto.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* The terminal shows nothing of what is typed; the old state is in *was. */
static bool
hide(struct termios *was)
{
	struct termios silent;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, was) < 0)
		return false;
	silent = *was;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
}

static int
refuse(size_t most, struct err *e)
{
	return err_set(e, ERR_limit_exceeded, "the value is over the limit of %zu bytes", most);
}

static int
read_stdin(struct blob *value, size_t most, bool line, struct err *e)
{
	char *to = value->data;
	size_t room = most + 2; /* its line feed, and one byte that is too many */
	ssize_t n = 1;

	while (n > 0 && value->size < room) {
		n = read(STDIN_FILENO, to + value->size, room - value->size);
		if (n < 0)
			return err_sys(e, "read the value from stdin");
		value->size += (size_t)n;
		if (line && n > 0 && to[value->size - 1] == '\n')
			break; /* a terminal gives a line at a time */
	}
	if (value->size > 0 && to[value->size - 1] == '\n')
		value->size--;
	return value->size <= most ? 0 : refuse(most, e);
}

static int
ask(struct blob *value, size_t most, struct err *e)
{
	struct termios was;
	bool hidden = hide(&was);

	if (hidden)
		fputs("value: ", stderr);

	int status = read_stdin(value, most, hidden, e);

	if (hidden) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &was);
		fputc('\n', stderr);
	}
	return status;
}

int
secret_read(char *word, size_t most, struct blob *value, struct err *e)
{
	*value = (struct blob){ malloc(most + 2), 0 };
	must(value->data != NULL);
	if (word == NULL)
		return ask(value, most, e);
	fputs("cloister: warning: other users can see a value in the command line, and the "
	      "shell's history keeps it; leave it out to be asked for it\n",
	    stderr);
	value->size = strlen(word);
	if (value->size > most)
		return refuse(most, e);
	memcpy(value->data, word, value->size);
	explicit_bzero(word, value->size);
	return 0;
}
