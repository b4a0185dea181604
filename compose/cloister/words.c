/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - the arguments of a tool from a command line, by the rows of commands.def.
 *
 * The user is trusted. A flag that is not in the table is a setting of cloister serve, which checks
 * it.
 */
#include "compose/cloister/words.h"

#include "compose/cloister/argument.h"
#include "compose/cloister/client.h"
#include "compose/cloister/secret.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	CODE_BYTES = 1 << 20,
	INPUT_BYTES = 50 << 20, /* of schema.def */
	SECRET_BYTES = 65536,
};

struct reading {
	const struct command *command;
	enum msg_id tool;
	json_t *arguments;
	unsigned long given; /* bit i: part i was given */
};

/* ---- a program ---- */

int
words_load(int fd, size_t most, struct blob *content, struct err *e)
{
	size_t have = 0;
	ssize_t n = 1;

	content->data = malloc(most + 1);
	if (content->data == NULL)
		return err_sys(e, "read");
	for (; n > 0 && have <= most; have += (size_t)n) {
		n = read(fd, (char *)content->data + have, most + 1 - have);
		if (n < 0)
			return err_sys(e, "read");
	}
	if (have > most)
		return err_set(e, ERR_code_too_large, "over the limit of %zu bytes", most);
	content->size = have;
	return 0;
}

static int
load_code(const char *file, struct blob *code, struct err *e)
{
	if (strcmp(file, "-") == 0)
		file = "/dev/stdin";

	auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open %s", file);
	return words_load(fd, CODE_BYTES, code, e) < 0 ? err_add(e, "%s", file) : 0;
}

/* From the file name, such as "a.js"; otherwise Python. */
static const char *
language_of(const char *file)
{
	const char *dot = strrchr(file, '.');
	int known = dot == NULL ? -1 : word_parse(SET_language, dot + 1, strlen(dot + 1));

	return word_text(SET_language, known < 0 ? language_python : known);
}

static int
take_file(struct reading *r, const struct part *part, const char *file, struct err *e)
{
	struct blob code = { 0 };
	int status = load_code(file, &code, e);

	if (status == 0)
		status = argument_set_text(r->arguments, part->to, &code, e);
	blob_clear(&code);
	if (status == 0 && json_object_get(r->arguments, "language") == NULL)
		status = argument_set(r->arguments, r->tool, "language", language_of(file), e);
	return status;
}

/* ---- files and sessions ---- */

/* A relative path stays what it is in the workspace; of others the name. */
static const char *
name_in_workspace(const char *file)
{
	bool outside =
	    file[0] == '/' || strncmp(file, "../", 3) == 0 || strstr(file, "/../") != NULL;
	const char *slash = strrchr(file, '/');

	return outside && slash != NULL ? slash + 1 : file;
}

static int
take_input(struct reading *r, const struct part *part, const char *file, struct err *e)
{
	json_t *files = json_object_get(r->arguments, part->to), *one = json_object();
	auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct blob content = { 0 };

	must(one != NULL);
	if (files == NULL) {
		files = json_array();
		json_object_set_new(r->arguments, part->to, files);
	}
	json_array_append_new(files, one);
	if (fd < 0)
		return err_sys(e, "open %s", file);
	if (words_load(fd, INPUT_BYTES, &content, e) < 0) {
		blob_clear(&content);
		return err_add(e, "%s", file);
	}
	argument_set_bytes(one, "content_base64", &content);
	blob_clear(&content);
	return json_object_set_new(one, "filename", json_string(name_in_workspace(file))) < 0
	           ? err_set(e, ERR_invalid_argument, "%s: the name is not UTF-8", file)
	           : 0;
}

int
words_session(const char *given, char session[WORDS_SESSION], struct err *e)
{
	bool is_id = strncmp(given, "sess_", 5) == 0 || strncmp(given, "name:", 5) == 0;
	int size = snprintf(session, WORDS_SESSION, "%s%s", is_id ? "" : "name:", given);

	return size < WORDS_SESSION
	           ? 0
	           : err_set(e, ERR_invalid_argument, "the name of the session is too long");
}

static int
take_session(struct reading *r, const struct part *part, const char *given, struct err *e)
{
	char session[WORDS_SESSION];

	return words_session(given, session, e) < 0
	           ? -1
	           : argument_set(r->arguments, r->tool, part->to, session, e);
}

/* A program that is a word; the language is Python's unless another is named. */
static int
take_code(struct reading *r, const struct part *part, const char *code, struct err *e)
{
	const struct blob text = { (void *)(uintptr_t)code, strlen(code) };

	return argument_set_text(r->arguments, part->to, &text, e);
}

/* ---- a secret ---- */

/* word: it is overwritten; NULL: none was given. */
static int
take_secret(struct reading *r, const struct part *part, char *word, struct err *e)
{
	struct blob value;
	int status = secret_read(word, SECRET_BYTES, &value, e);

	if (status == 0)
		argument_set_bytes(r->arguments, part->to, &value);
	blob_wipe(&value);
	return status;
}

/* ---- one part ---- */

static int (*const takes[])(struct reading *, const struct part *, const char *, struct err *) = {
	[PART_FILE] = take_file,
	[PART_CODE] = take_code,
	[PART_INPUT] = take_input,
	[PART_SESSION] = take_session,
	[PART_OTHER] = NULL,
};

/* to: "x" takes the value, "x=y" has its own. */
static int
apply(struct reading *r, const struct part *part, char *value, struct err *e)
{
	char path[64];

	if (part->kind == PART_SECRET)
		return take_secret(r, part, value, e);
	if ((part->kind == PART_OPTIONAL || part->kind == PART_SESSION) &&
	    strcmp(value, "default") == 0)
		return 0;
	if (takes[part->kind] != NULL)
		return takes[part->kind](r, part, value, e);
	if (part->kind == PART_MANY)
		return argument_add(r->arguments, part->to, value, e);
	snprintf(path, sizeof path, "%.*s", (int)strcspn(part->to, "="), part->to);
	if (argument_set(r->arguments, r->tool, path,
		strchr(part->to, '=') != NULL ? strchr(part->to, '=') + 1 : value, e) < 0)
		return err_add(e, "%s", part->name);
	return 0;
}

static void
mark(struct reading *r, const struct part *part)
{
	r->given |= 1UL << (part - r->command->parts);
}

static bool
is_marked(const struct reading *r, const struct part *part)
{
	return (r->given >> (part - r->command->parts) & 1) != 0;
}

/* The row of a flag; of several choices the one with this value. */
static const struct part *
find_flag(const struct reading *r, const char *argument, const char *value)
{
	size_t size = strcspn(argument, "=");

	for (const struct part *part = r->command->parts; part->name != NULL; part++)
		if (strlen(part->name) == size && memcmp(part->name, argument, size) == 0 &&
		    (part->kind != PART_CHOICE || value == NULL || strcmp(part->value, value) == 0))
			return part;
	return NULL;
}

static int
refuse_choice(const struct part *part, const char *value, struct err *e)
{
	char known[128] = "";

	for (const struct part *p = part; p->name != NULL && strcmp(p->name, part->name) == 0; p++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
		    p == part ? "" : ", ", p->value);
	return err_set(
	    e, ERR_invalid_argument, "%s: '%.64s' is none of %s", part->name, value, known);
}

/* Returns the number of arguments that the flag takes; 0: it is a setting. */
static int
take_flag(struct reading *r, char **argv, struct err *e)
{
	const struct part *part = find_flag(r, argv[0], NULL);
	char *value = strchr(argv[0], '=');
	int taken = 1;

	if (part == NULL)
		return 0;
	mark(r, part);
	if (part->kind == PART_SWITCH)
		return value != NULL
		           ? err_set(e, ERR_invalid_argument, "%s takes no value", part->name)
		           : (apply(r, part, (char[]){ "" }, e) < 0 ? -1 : 1);
	if (value == NULL) {
		value = argv[taken++];
		if (value == NULL)
			return err_set(e, ERR_invalid_argument, "%s: value required", part->name);
	} else {
		value++;
	}

	const struct part *chosen = find_flag(r, argv[0], value);

	if (chosen == NULL)
		return refuse_choice(part, value, e);
	return apply(r, chosen, value, e) < 0 ? -1 : taken;
}

static int
take_positional(struct reading *r, char *value, struct err *e)
{
	for (const struct part *part = r->command->parts; part->name != NULL; part++) {
		if (part->kind == PART_SET || commands_is_flag(part) ||
		    (is_marked(r, part) && part->kind != PART_MANY))
			continue;
		mark(r, part);
		return apply(r, part, value, e);
	}
	return err_set(e, ERR_invalid_argument, "unexpected argument '%.64s'", value);
}

/* ---- the line ---- */

static int
begin(struct reading *r, struct err *e)
{
	for (const struct part *part = r->command->parts; part->name != NULL; part++)
		if (part->kind == PART_SET && apply(r, part, (char[]){ "" }, e) < 0)
			return -1;
	return 0;
}

static bool
is_needed(const struct part *part)
{
	return part->kind == PART_NEEDED || (part->kind == PART_MANY && !commands_is_flag(part));
}

static int
finish(struct reading *r, struct err *e)
{
	for (const struct part *part = r->command->parts; part->name != NULL; part++)
		if ((is_needed(part) && !is_marked(r, part)) ||
		    (part->kind == PART_FILE && json_object_get(r->arguments, part->to) == NULL))
			return err_set(e, ERR_invalid_argument, "%s required", part->name);
	for (const struct part *part = r->command->parts; part->name != NULL; part++)
		if (part->kind == PART_SECRET && !is_marked(r, part))
			return take_secret(r, part, NULL, e);
	return 0;
}

/* "-" is stdin, "-5" a value. */
static bool
is_flag(const char *argument)
{
	return argument[0] == '-' && argument[1] != '\0' && !isdigit((unsigned char)argument[1]);
}

static int
read_all(struct reading *r, int *argc, char **argv, bool *as_json, struct err *e)
{
	int rest = 1, taken = 1;

	for (int i = 1; i < *argc; i += taken) {
		taken = 1;
		if (strcmp(argv[i], "--json") == 0) {
			*as_json = true;
		} else if (!is_flag(argv[i])) {
			if (take_positional(r, argv[i], e) < 0)
				return -1;
		} else {
			taken = take_flag(r, argv + i, e);
			if (taken < 0)
				return -1;
			if (taken == 0) {
				argv[rest++] = argv[i];
				taken = 1;
			}
		}
	}
	argv[rest] = NULL;
	*argc = rest;
	return 0;
}

/* The number of words of a flag; 0: it is none of the command. */
static int
words_of_flag(const struct command *c, const char *argument)
{
	const struct reading r = { .command = c };
	const struct part *part = find_flag(&r, argument, NULL);

	if (part == NULL)
		return strcmp(argument, "--json") == 0 || strcmp(argument, "--help") == 0;
	return part->kind == PART_SWITCH || strchr(argument, '=') != NULL ? 1 : 2;
}

static bool
is_program(const struct command *c, const char *flag)
{
	const struct reading r = { .command = c };
	const struct part *part = find_flag(&r, flag, NULL);

	return part != NULL && part->kind == PART_CODE;
}

int
words_of_program(const struct command *c, int argc, char **argv)
{
	bool file = false;
	int taken;

	for (int i = 1; i < argc; i += taken) {
		taken = is_flag(argv[i]) ? words_of_flag(c, argv[i]) : 0;
		if (taken == 0 && file)
			return i;
		file |= !is_flag(argv[i]) || is_program(c, argv[i]);
		taken += taken == 0; /* the file, or a setting before it */
	}
	return argc;
}

int
words_take(int *argc, char **argv, const char *flag, const char **value, struct err *e)
{
	size_t size = strlen(flag);

	*value = NULL;
	for (int i = 1; i < *argc; i++) {
		bool joined = strncmp(argv[i], flag, size) == 0 && argv[i][size] == '=';
		int parts = joined ? 1 : 2;

		if (!joined && strcmp(argv[i], flag) != 0)
			continue;
		*value = joined ? argv[i] + size + 1 : argv[i + 1];
		if (*value == NULL || **value == '\0')
			return err_set(e, ERR_invalid_argument, "%s: value required", flag);
		*argc -= parts;
		memmove(argv + i, argv + i + parts, (size_t)(*argc - i + 1) * sizeof *argv);
		return 0;
	}
	return 0;
}

int
words_read(const struct command *c, int *argc, char **argv, struct words *out, struct err *e)
{
	struct reading r = { c, message_find(c->tool), json_object(), 0 };

	must(r.arguments != NULL && r.tool != MSG_none);
	*out = (struct words){ .as_json = false };
	if (begin(&r, e) < 0 || read_all(&r, argc, argv, &out->as_json, e) < 0 ||
	    finish(&r, e) < 0) {
		json_decref(r.arguments);
		return -1;
	}
	out->arguments = r.arguments;
	return 0;
}

int
words_fail(const struct command *c, const struct err *e)
{
	fprintf(stderr, "cloister: %s\n", e->text);
	if (e->code != ERR_invalid_argument)
		return CLIENT_FAILED;
	fputs("usage: cloister ", stderr);
	commands_print_usage(c, stderr);
	fputc('\n', stderr);
	return CLIENT_USAGE;
}

bool
words_help(const struct command *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			commands_print_help(c, stdout);
			return true;
		}
	return false;
}
