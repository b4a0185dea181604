/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - shell scripts from commands.def. Where the table has nothing to offer, the shell
 * completes file names.
 */
#include "compose/cloister/completion.h"

#include "compose/cloister/client.h"
#include "compose/cloister/commands.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/table/schema.h"

#include <stdio.h>
#include <string.h>

/* "session": the first word of a command; false: an earlier row has it. */
static bool
first_word(size_t i, char word[32])
{
	snprintf(word, 32, "%.*s", (int)strcspn(commands[i].words, " "), commands[i].words);

	size_t size = strlen(word);

	for (size_t k = 0; k < i; k++)
		if (strncmp(commands[k].words, word, size) == 0 &&
		    (commands[k].words[size] == ' ' || commands[k].words[size] == '\0'))
			return false;
	return true;
}

static void
print_first_words(void)
{
	char word[32];

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (first_word(i, word))
			printf(" %s", word);
}

/* "bash|zsh|fish" */
static bool
is_choice(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz|") == strlen(name);
}

/* What may follow the words of a command: its flags, and the choices in its positional parts. */
static void
print_rest(const struct command *c)
{
	for (const struct part *part = c->parts; part->name != NULL; part++) {
		if (commands_is_flag(part) && commands_is_first(c, part))
			printf(" %s", part->name);
		else if (part->kind == PART_OTHER && is_choice(part->name))
			for (const char *at = part->name; *at != '\0';
			     at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
				printf(" %.*s", (int)strcspn(at, "|"), at);
	}
	if (c->tool != NULL)
		printf(" --json");
	for (size_t id = 1; c == &commands[COMMAND_call] && id < MSG_COUNT; id++)
		if (messages[id].title != NULL)
			printf(" %s", messages[id].name);
}

/* "list kill" behind "session". */
static void
print_second_words(const char *first)
{
	size_t size = strlen(first);

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strncmp(commands[i].words, first, size) == 0 && commands[i].words[size] == ' ')
			printf(" %s", commands[i].words + size + 1);
}

/* The lines of a case statement over "first second". */
static void
print_cases(void)
{
	char word[32];

	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		printf("\t\"%s \"*) offered=\"", commands[i].words);
		print_rest(&commands[i]);
		puts("\" ;;");
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strchr(commands[i].words, ' ') != NULL && first_word(i, word)) {
			printf("\t\"%s \"*) offered=\"", word);
			print_second_words(word);
			puts("\" ;;");
		}
}

static void
print_bash(void)
{
	puts("# bash completion of cloister: . <(cloister completion bash)\n"
	     "_cloister()\n{\n\tlocal offered=\"\" cur=\"${COMP_WORDS[COMP_CWORD]}\"\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\toffered=\"", stdout);
	print_first_words();
	puts("\"\n\telse case \"${COMP_WORDS[*]:1:COMP_CWORD-1} \" in");
	print_cases();
	puts("\tesac; fi\n\tmapfile -t COMPREPLY < <(compgen -W \"$offered\" -- \"$cur\")\n}\n"
	     "complete -o default -F _cloister cloister");
}

static void
print_zsh(void)
{
	puts("#compdef cloister\n"
	     "# zsh completion of cloister: source <(cloister completion zsh)\n"
	     "_cloister()\n{\n\tlocal before=\"${words[2,CURRENT-1]} \"\n"
	     "\tlocal offered=\"\"\n\tif (( CURRENT == 2 )); then");
	fputs("\toffered=\"", stdout);
	print_first_words();
	puts("\"\n\telse case \"$before\" in");
	print_cases();
	puts("\tesac; fi\n\tcompadd -- ${=offered} || _files\n}\n"
	     "(( $+functions[compdef] )) && compdef _cloister cloister");
}

/* In single quotes of fish. */
static void
print_quoted(const char *text)
{
	putchar('\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

static void
print_fish_flags(const struct command *c)
{
	for (const struct part *part = c->parts; part->name != NULL; part++) {
		if (!commands_is_flag(part) || !commands_is_first(c, part))
			continue;
		printf("complete -c cloister -n 'string match -q -- \"cloister %s *\" "
		       "(commandline -cp)' %s %s%s -d ",
		    c->words, part->name[1] == '-' ? "-l" : "-s",
		    part->name + (part->name[1] == '-' ? 2 : 1),
		    part->value[0] == '\0' ? "" : " -r");
		print_quoted(part->doc);
		putchar('\n');
	}
}

static void
print_fish(void)
{
	char word[32];

	puts("# fish completion of cloister: cloister completion fish | source");
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		const char *second = strchr(commands[i].words, ' ');

		if (second != NULL && first_word(i, word))
			printf("complete -c cloister -n __fish_use_subcommand -f -a %s\n", word);
		snprintf(word, sizeof word, "%.*s", (int)strcspn(commands[i].words, " "),
		    commands[i].words);
		if (second == NULL)
			printf("complete -c cloister -n __fish_use_subcommand -f -a %s -d ", word);
		else
			printf("complete -c cloister -n '__fish_seen_subcommand_from %s' -f -a %s "
			       "-d ",
			    word, second + 1);
		print_quoted(commands[i].doc);
		putchar('\n');
		print_fish_flags(&commands[i]);
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {
	{ "bash", print_bash },
	{ "zsh", print_zsh },
	{ "fish", print_fish },
};

int
completion_print(int argc, char **argv)
{
	struct err e;

	for (size_t i = 0; i < COUNT(shells) && argc == 2; i++)
		if (strcmp(shells[i].name, argv[1]) == 0) {
			shells[i].print();
			return 0;
		}
	err_set(&e, ERR_invalid_argument, "the shell is bash, zsh or fish");
	return words_fail(&commands[COMMAND_completion], &e);
}
