/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - the user's PATH says which program runs, as in the user's shell; it is trusted. */
#include "compose/cloister/config/line.h"

#include "common/base/auto.h"

#include <argz.h>
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

void
line_add(struct line *line, const char *argument)
{
	must(argz_add(&line->text, &line->size, argument) == 0);
}

void
line_clear(struct line *line)
{
	free(line->text);
}

static void
print_quoted(const char *argument, FILE *to)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,@%+";

	if (*argument != '\0' && argument[strspn(argument, plain)] == '\0') {
		fputs(argument, to);
		return;
	}
	fputc('\'', to);
	for (; *argument != '\0'; argument++)
		if (*argument == '\'')
			fputs("'\\''", to);
		else
			fputc(*argument, to);
	fputc('\'', to);
}

void
line_print(const struct line *line, FILE *to)
{
	for (char *at = line->text; at != NULL; at = argz_next(line->text, line->size, at)) {
		if (at != line->text)
			fputc(' ', to);
		print_quoted(at, to);
	}
}

static int
wait_for(pid_t pid, const char *program, struct err *e)
{
	int status;

	if (TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) < 0)
		return err_sys(e, "wait for %s", program);
	if (WIFSIGNALED(status))
		return err_set(
		    e, ERR_unavailable, "%s was ended by signal %d", program, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(
		    e, ERR_unavailable, "%s failed (status %d)", program, WEXITSTATUS(status));
	return 0;
}

int
line_run(const struct line *line, struct err *e)
{
	const char *program = line->text;
	auto_free char **argv = calloc(argz_count(line->text, line->size) + 1, sizeof *argv);
	pid_t pid;

	must(argv != NULL);
	argz_extract(line->text, line->size, argv);
	fflush(stdout);

	int error = posix_spawnp(&pid, program, NULL, NULL, argv, environ);

	if (error == ENOENT)
		return err_set(e, ERR_not_found, "%s is not in PATH", program);
	if (error != 0)
		return err_set(e, ERR_unavailable, "start %s: %s", program, strerror(error));
	return wait_for(pid, program, e);
}
