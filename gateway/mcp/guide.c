/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guide.c - what a profile allows and refuses, a line for each table of common/profile.
 *
 * The checkers apply the same tables, so a row that is added or removed changes both.  What a
 * checker decides without a table is a sentence here.
 */
#include "gateway/mcp/guide.h"

#include "common/base/auto.h"

#include <string.h>

/* clang-format off */
#define LIST(name) (1u << PROFILE_##name)

/* A name.  A set of profiles has it by one of the lists, or by one of the powers; zeroed: always. */
struct name {
	const char *text;
	unsigned lists, powers;
};

static const struct name powers[] = {
#define POWER(id, doc) { doc, 0, POWER_##id },
#include "common/profile/profiles.def"
};

static const struct name python_modules[] = {
#define MODULE(list, name) { name, LIST(list), 0 },
#include "common/profile/profiles.def"
};

static const struct name python_builtins[] = {
#define BUILTIN(name, power, hint) { #name, 0, POWER_##power },
#include "common/profile/python.def"
};

static const struct name python_members[] = {
#define MEMBER(module, name, power, hint) { #module "." #name, 0, POWER_##power },
#include "common/profile/members.def"
};

static const struct name python_only[] = {
#define ONLY(module, name) { #module "." #name, 0, 0 },
#include "common/profile/members.def"
};

static const struct name python_direct[] = {
#define DIRECT(module, name, most) { #module "." #name, 0, 0 },
#include "common/profile/members.def"
};

static const struct name python_metaclasses[] = {
#define METACLASS(module, name) { #module "." #name, 0, 0 },
#include "common/profile/members.def"
};

static const struct name python_attributes[] = {
#define LEADS(name) { #name, 0, POWER_inspect },
#define OPENS(name) { #name, 0, POWER_files | POWER_compute },
#include "common/profile/python.def"
};

static const struct name python_dunders[] = {
#define HARMLESS(name) { #name, 0, 0 },
#define REFLECTS(name) { #name, 0, POWER_reflect },
#include "common/profile/python.def"
};

static const struct name python_defined[] = {
#define DEFINES(name) { #name, 0, 0 },
#include "common/profile/python.def"
};

static const struct name python_accessors[] = {
#define ACCESSOR(name) { #name, 0, 0 },
#include "common/profile/python.def"
};

static const struct name python_hidden[] = {
#define HIDDEN(module) { #module, 0, POWER_imports },
#include "common/profile/python.def"
};

static const struct name node_modules[] = {
#define MODULE(list, name) { name, LIST(list), 0 },
#include "common/profile/node.def"
};

static const struct name node_globals[] = {
#define GLOBAL(name) { #name, 0, 0 },
#define LISTED(list, name) { #name, LIST(list), 0 },
#include "common/profile/node.def"
};

static const struct name node_powerful[] = {
#define POWERFUL(name, power, hint) { #name, 0, POWER_##power },
#include "common/profile/node.def"
};

static const struct name node_properties[] = {
#define PROPERTY(name, power) { #name, 0, POWER_##power },
#include "common/profile/node.def"
};

static const struct name shell_commands[] = {
#define COMMAND(list, name) { name, LIST(list), 0 },
#include "common/profile/shell.def"
};

static const struct name shell_options[] = {
#define OPTION(command, option) { #command " " option, 0, POWER_evaluate },
#include "common/profile/shell.def"
};

static const struct name shell_variables[] = {
#define VARIABLE(name) { name, 0, POWER_evaluate },
#include "common/profile/shell.def"
};

/*
 * A line, unless the set has one of these powers.  Names, if there are any: those that the set has
 * (HAS) or lacks (LACKS).
 */
enum which { HAS, LACKS };

#define NAMES(table) table, COUNT(table)

static const struct line {
	const char *language, *text;
	const struct name *names;
	size_t count;
	enum which which;
	unsigned unless;
} lines[] = {
	{ "python", "Import only these modules, and those below them", NAMES(python_modules), HAS, 0 },
	{ "python", "Of their modules, these have no other members", NAMES(python_only), HAS, POWER_imports },
	{ "python", "Import these by their own name or not at all, never as an attribute of a module", NAMES(python_hidden), LACKS, 0 },
	{ "python", "Not allowed", NAMES(powers), LACKS, 0 },
	{ "python", "Built-ins that are not allowed", NAMES(python_builtins), LACKS, 0 },
	{ "python", "Members that are not allowed", NAMES(python_members), LACKS, 0 },
	{ "python", "Attributes that are not allowed", NAMES(python_attributes), LACKS, 0 },
	{ "python", "Of attributes with two underscores on both sides only these", NAMES(python_dunders), HAS, POWER_compute },
	{ "python", "A class may also define", NAMES(python_defined), HAS, POWER_compute },
	{ "python", "Called with a literal name only", NAMES(python_accessors), HAS, POWER_compute },
	{ "python", "Called directly only, with their first arguments", NAMES(python_direct), HAS, POWER_compute },
	{ "python", "After metaclass= only", NAMES(python_metaclasses), HAS, POWER_compute },
	{ "node", "Import only these modules, by a literal name", NAMES(node_modules), HAS, 0 },
	{ "node", "Of Node's globals only these, and require", NAMES(node_globals), HAS, POWER_namespace },
	{ "node", "Globals that are not allowed", NAMES(node_powerful), LACKS, 0 },
	{ "node", "Properties that are not allowed, of any object", NAMES(node_properties), LACKS, 0 },
	{ "node", "No 'with', and 'this' only in classes", NULL, 0, HAS, POWER_namespace },
	{ "shell", "Run only these commands, and functions of the program, by a literal name", NAMES(shell_commands), HAS, POWER_evaluate },
	{ "shell", "Options that are not allowed", NAMES(shell_options), LACKS, 0 },
	{ "shell", "Variables that may not be set", NAMES(shell_variables), LACKS, 0 },
	{ "shell", "No redirection from or to a file but /dev/null and the standard streams", NULL, 0, HAS, POWER_files },
	{ "shell", "No indirect expansion, no declare -n", NULL, 0, HAS, POWER_reflect },
	{ "shell", "sed only with --sandbox; the text of a trap only the name of a function", NULL, 0, HAS, POWER_evaluate },
};

/* TypeScript runs as JavaScript. */
static const struct {
	const char *name, *rules;
} languages[] = {
	{ "python", "python" },
	{ "node", "node" },
	{ "shell", "shell" },
	{ "typescript", "node" },
};
/* clang-format on */

static const char *
rules_of(const char *language)
{
	for (size_t i = 0; i < COUNT(languages); i++)
		if (strcmp(languages[i].name, language) == 0)
			return languages[i].rules;
	return NULL;
}

bool
guide_knows(const char *language)
{
	return rules_of(language) != NULL;
}

static bool
has(const struct profile_set *set, const struct name *name)
{
	return (name->lists == 0 && name->powers == 0) || (name->lists & set->lists) != 0 ||
	       (name->powers & set->powers) != 0;
}

static void
write_line(FILE *to, const struct line *line, const struct profile_set *set)
{
	size_t written = 0;

	if ((line->unless & set->powers) != 0)
		return;
	if (line->count == 0) {
		fprintf(to, "- %s.\n", line->text);
		return;
	}
	for (const struct name *name = line->names; name < line->names + line->count; name++) {
		if (has(set, name) != (line->which == HAS))
			continue;
		if (written++ == 0)
			fprintf(to, "- %s: ", line->text);
		fprintf(
		    to, "%s%s", written > 1 ? line->names == powers ? "; " : ", " : "", name->text);
	}
	if (written > 0)
		fputs(".\n", to);
}

void
guide_write(FILE *to, const char *language, const struct profile_set *set)
{
	const char *rules = rules_of(language);

	for (const struct line *line = lines; line < lines + COUNT(lines); line++)
		if (rules != NULL && !profile_is_open(set) && strcmp(line->language, rules) == 0)
			write_line(to, line, set);
}
