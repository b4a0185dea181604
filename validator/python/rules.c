/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - one function for each class of node that a rule concerns.
 *
 * A help for the model, not a security boundary: text built at run time reaches things that no rule
 * sees here, and the sandbox of the program must hold in any case.
 */
#include "validator/python/rules.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_DOTTED = 512, /* bytes of a module's name; no real one is as long */
	MAX_CHAIN = 16,   /* attributes searched for the module at the root */
};

struct check {
	const struct program *program;
	struct report *report;
};

static const struct builtin {
	const char *name;
	enum power power;
	const char *hint;
} builtins[] = {
#define BUILTIN(name, power, hint) { #name, POWER_##power, hint },
#include "validator/rules.def"
};

static const struct member {
	const char *module, *name;
	enum power power;
	const char *hint;
} members[] = {
#define MEMBER(module, name, power, hint) { #module, #name, POWER_##power, hint },
#include "validator/rules.def"
};

static const char *const accessors[] = {
#define ACCESSOR(name) #name,
#include "validator/rules.def"
};

static const char *const leads[] = {
#define LEADS(name) #name,
#include "validator/rules.def"
};

static const char *const harmless[] = {
#define HARMLESS(name) #name,
#include "validator/rules.def"
};

static const char *const hidden[] = {
#define HIDDEN(module) #module,
#include "validator/rules.def"
};

static bool
among(const char *const *list, size_t count, const char *name)
{
	for (size_t n = 0; n < count; n++)
		if (strcmp(list[n], name) == 0)
			return true;
	return false;
}

static bool
is_dunder(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && memcmp(name, "__", 2) == 0 && memcmp(name + size - 2, "__", 2) == 0;
}

static bool
may(const struct check *check, enum power power)
{
	return policy_has(check->program->policy, power);
}

/* Where a node starts. */
static uint64_t
line_of(PyObject *ast)
{
	return tree_number(ast, ATTR_lineno);
}

static uint64_t
column_of(const struct check *check, PyObject *ast)
{
	/* A line can be as long as the code, so columns are counted only for reported findings. */
	if (report_full(check->report))
		return 0;
	return source_column(
	    check->program->source, line_of(ast), tree_number(ast, ATTR_col_offset));
}

#define FOUND(check, rule, ast, hint, ...) \
	report_finding( \
	    (check)->report, rule, line_of(ast), column_of(check, ast), hint, __VA_ARGS__)

/* Where the name after the dot starts. */
static uint64_t
attribute_column(const struct check *check, PyObject *ast, const char *attr)
{
	uint64_t end = tree_number(ast, ATTR_end_col_offset), size = strlen(attr);

	if (report_full(check->report))
		return 0;
	return source_column(
	    check->program->source, tree_number(ast, ATTR_end_lineno), end > size ? end - size : 0);
}

#define FOUND_ATTR(check, rule, ast, attr, hint, ...) \
	report_finding((check)->report, rule, tree_number(ast, ATTR_end_lineno), \
	    attribute_column(check, ast, attr), hint, __VA_ARGS__)

/* ---- imports ---- */

static void
forbid_import(struct check *check, PyObject *at, const char *module)
{
	const struct policy *policy = check->program->policy;
	const char *other = profile_suggest(module);
	char hint[160];

	if (policy_profile_module(policy, module))
		snprintf(hint, sizeof hint, "allowed_imports does not name it; add it there.");
	else if (other != NULL)
		snprintf(hint, sizeof hint,
		    "Profile %s allows it; add it to the others, separated by a comma.", other);
	else
		snprintf(hint, sizeof hint, "Do without it; no profile but open allows it.");
	FOUND(check, RULE_forbidden_import, at, hint, "Import '%s' is not allowed", module);
}

static bool
allow_member(struct check *check, const char *module, const char *name, const char **hint)
{
	const char *bare = name + strspn(name, "_");

	*hint = NULL;
	for (const struct member *row = members; row < members + COUNT(members); row++)
		if (strcmp(row->module, module) == 0 && strcmp(row->name, name) == 0 &&
		    !may(check, row->power)) {
			*hint = row->hint;
			return false;
		}
	return may(check, POWER_imports) || !among(hidden, COUNT(hidden), bare) ||
	       policy_module(check->program->policy, bare);
}

static void
on_import(struct check *check, const struct node *node)
{
	PyObject *aliases = tree_get(node->ast, ATTR_names);

	for (size_t n = 0; n < tree_length(node->ast, ATTR_names); n++) {
		PyObject *alias = PyList_GET_ITEM(aliases, (Py_ssize_t)n);
		const char *module = tree_text(alias, ATTR_name);
		if (module == NULL)
			continue;
		report_import(check->report, module);
		if (!policy_module(check->program->policy, module))
			forbid_import(check, alias, module);
	}
}

/* One name of `from module import name`. */
static void
on_imported_name(struct check *check, PyObject *alias, const char *module)
{
	const char *name = tree_text(alias, ATTR_name), *hint;
	char dotted[MAX_DOTTED];

	if (name == NULL)
		return;
	bool star = strcmp(name, "*") == 0;
	snprintf(dotted, sizeof dotted, "%s%s%s", module, star ? "" : ".", star ? "" : name);
	if (!policy_module(check->program->policy, dotted))
		forbid_import(
		    check, alias, policy_leads(check->program->policy, module) ? dotted : module);
	else if (star && !may(check, POWER_imports))
		FOUND(check, RULE_star_import, alias, NULL, "Star import from '%s' is not allowed",
		    module);
	else if (!allow_member(check, module, name, &hint))
		FOUND(check, RULE_module_attribute, alias, hint, "Import '%s' is not allowed",
		    dotted);
}

static void
on_import_from(struct check *check, const struct node *node)
{
	PyObject *aliases = tree_get(node->ast, ATTR_names);
	const char *module = tree_text(node->ast, ATTR_module);

	if (tree_number(node->ast, ATTR_level) > 0) {
		if (!may(check, POWER_imports))
			FOUND(check, RULE_relative_import, node->ast, NULL,
			    "Relative import is not allowed");
		return;
	}
	if (module == NULL)
		return;
	report_import(check->report, module);
	for (size_t n = 0; n < tree_length(node->ast, ATTR_names); n++)
		on_imported_name(check, PyList_GET_ITEM(aliases, (Py_ssize_t)n), module);
}

/* ---- attributes ---- */

/* Is this attribute allowed at all? */
static bool
allow_attribute(const struct check *check, const char *attr)
{
	if (among(leads, COUNT(leads), attr))
		return may(check, POWER_inspect);
	return !is_dunder(attr) || may(check, POWER_reflect) ||
	       among(harmless, COUNT(harmless), attr);
}

/* The dotted name of an expression a.b.c, if its root was imported. */
static bool
module_of(const struct check *check, PyObject *ast, char dotted[MAX_DOTTED])
{
	const char *chain[MAX_CHAIN];
	size_t count = 0;

	while (tree_kind(ast) == NODE_Attribute && count < MAX_CHAIN) {
		chain[count++] = tree_text(ast, ATTR_attr);
		ast = tree_get(ast, ATTR_value);
	}
	PyObject *root = ast != NULL && tree_kind(ast) == NODE_Name ? tree_get(ast, ATTR_id) : NULL;
	const char *module = root != NULL ? names_module(&check->program->names, root) : NULL;
	if (module == NULL)
		return false;
	size_t used = (size_t)snprintf(dotted, MAX_DOTTED, "%s", module);
	while (count > 0 && used < MAX_DOTTED) {
		const char *attr = chain[--count];
		used += (size_t)snprintf(
		    dotted + used, MAX_DOTTED - used, ".%s", attr != NULL ? attr : "");
	}
	return true;
}

/* `import os.path` binds os, of which only path is allowed. */
static bool
within_partial(const struct check *check, PyObject *value, const char *dotted)
{
	PyObject *name = tree_kind(value) == NODE_Name ? tree_get(value, ATTR_id) : NULL;
	const struct policy *policy = check->program->policy;

	if (name == NULL || !names_partial(&check->program->names, name))
		return true;
	return policy_module(policy, dotted) || policy_leads(policy, dotted);
}

static void
on_attribute(struct check *check, const struct node *node)
{
	const char *attr = tree_text(node->ast, ATTR_attr), *hint = NULL;
	PyObject *value = tree_get(node->ast, ATTR_value);
	char module[MAX_DOTTED], dotted[2 * MAX_DOTTED];

	if (attr == NULL || value == NULL)
		return;
	if (!allow_attribute(check, attr)) {
		FOUND_ATTR(check, RULE_dunder_attribute, node->ast, attr, NULL,
		    "Attribute '%s' is not allowed", attr);
		return;
	}
	if (!module_of(check, value, module))
		return;
	snprintf(dotted, sizeof dotted, "%s.%s", module, attr);
	if (!within_partial(check, value, dotted) || !allow_member(check, module, attr, &hint))
		FOUND_ATTR(check, RULE_module_attribute, node->ast, attr, hint,
		    "'%s' is not allowed", dotted);
}

static void
on_match_class(struct check *check, const struct node *node)
{
	PyObject *attrs = tree_get(node->ast, ATTR_kwd_attrs);

	for (size_t n = 0; n < tree_length(node->ast, ATTR_kwd_attrs); n++) {
		const char *attr = tree_string(PyList_GET_ITEM(attrs, (Py_ssize_t)n));
		if (attr != NULL && !allow_attribute(check, attr))
			FOUND(check, RULE_dunder_attribute, node->ast, NULL,
			    "Attribute '%s' is not allowed", attr);
	}
}

/* "{0.__class__}": format() reads attributes that the text names. */
static void
on_constant(struct check *check, const struct node *node)
{
	const char *text = tree_text(node->ast, ATTR_value);
	const char *at = text != NULL && !may(check, POWER_reflect) ? strchr(text, '{') : NULL;

	for (; at != NULL; at = strchr(at, '{')) {
		size_t size = strcspn(++at, "{}");
		for (size_t n = 0; n + 2 < size; n++)
			if ((at[n] == '.' || at[n] == '[') && at[n + 1] == '_' &&
			    at[n + 2] == '_') {
				FOUND(check, RULE_format_attribute, node->ast, NULL,
				    "Text that makes format() read a dunder attribute is not "
				    "allowed");
				return;
			}
	}
}

/* ---- names ---- */

/* getattr and similar: they may only be called, with a literal name that is allowed. */
static void
on_accessor(struct check *check, const struct node *node, const char *name)
{
	PyObject *parent = check->program->tree.nodes[node->parent].ast;
	PyObject *args = tree_get(parent, ATTR_args);
	bool called = tree_kind(parent) == NODE_Call && tree_get(parent, ATTR_func) == node->ast &&
	              tree_length(parent, ATTR_args) >= 2;
	PyObject *second = called ? PyList_GET_ITEM(args, 1) : NULL;
	const char *attr = second != NULL && tree_kind(second) == NODE_Constant
	                       ? tree_text(second, ATTR_value)
	                       : NULL;

	if (attr == NULL) {
		if (!may(check, POWER_reflect))
			FOUND(check, RULE_computed_name, node->ast, NULL,
			    "'%s' is only allowed with a literal name", name);
	} else if (!allow_attribute(check, attr)) {
		FOUND(check, RULE_dunder_attribute, second, NULL, "Attribute '%s' is not allowed",
		    attr);
	}
}

/* Returns true if the name is in a table, whether it is allowed or not. */
static bool
on_builtin(struct check *check, const struct node *node, const char *name)
{
	for (const struct builtin *row = builtins; row < builtins + COUNT(builtins); row++) {
		if (strcmp(row->name, name) != 0)
			continue;
		if (!may(check, row->power))
			FOUND(check, RULE_forbidden_call, node->ast, row->hint,
			    "'%s' is not allowed", name);
		return true;
	}
	return false;
}

static bool
allow_dunder_name(const struct check *check, PyObject *id, const char *name)
{
	if (among(leads, COUNT(leads), name))
		return may(check, POWER_inspect);
	/*
	 * A name that the program defines itself, like __slots__ in a class, reveals nothing new.
	 */
	return may(check, POWER_reflect) || among(harmless, COUNT(harmless), name) ||
	       PySet_Contains(check->program->names.bound, id) == 1;
}

static void
on_name(struct check *check, const struct node *node)
{
	PyObject *id = tree_get(node->ast, ATTR_id), *context = tree_get(node->ast, ATTR_ctx);
	const struct node *parent = &check->program->tree.nodes[node->parent];
	const char *name = tree_string(id);

	if (name == NULL || context == NULL)
		return;
	bool load = tree_kind(context) == NODE_Load;
	if (load && on_builtin(check, node, name))
		return;
	if (is_dunder(name) && !allow_dunder_name(check, id, name))
		FOUND(check, RULE_dunder_name, node->ast, NULL, "Name '%s' is not allowed", name);
	else if (load && among(accessors, COUNT(accessors), name))
		on_accessor(check, node, name);
	else if (load && names_partial(&check->program->names, id) &&
		 parent->kind != NODE_Attribute && !policy_module(check->program->policy, name))
		FOUND(check, RULE_module_attribute, node->ast, NULL,
		    "Module '%s' is not allowed as a whole", name);
}

static void (*const on_node[NODE_COUNT])(struct check *, const struct node *) = {
	[NODE_Attribute] = on_attribute,
	[NODE_Constant] = on_constant,
	[NODE_Import] = on_import,
	[NODE_ImportFrom] = on_import_from,
	[NODE_MatchClass] = on_match_class,
	[NODE_Name] = on_name,
};

void
rules_check(const struct program *program, struct report *report)
{
	struct check check = { program, report };

	for (size_t n = 0; n < program->tree.count; n++)
		if (on_node[program->tree.nodes[n].kind] != NULL)
			on_node[program->tree.nodes[n].kind](&check, &program->tree.nodes[n]);
}
