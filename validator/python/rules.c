/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c - one function for each class of node that a rule concerns.
 *
 * A help for the model, not a security boundary: text built at run time reaches things that no rule
 * sees here, and the sandbox of the program must hold in any case.
 */
#include "validator/python/rules.h"
#include "validator/python/finding.h"
#include "validator/python/members.h"
#include "validator/python/protocols.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_CHAIN = 16, /* attributes searched for the module at the root */
};

static const struct builtin {
	const char *name;
	enum power power;
	const char *hint;
} builtins[] = {
#define BUILTIN(name, power, hint) { #name, POWER_##power, hint },
#include "common/profile/python.def"
};

static const struct member {
	const char *module, *name;
	enum power power;
	const char *hint;
} members[] = {
#define MEMBER(module, name, power, hint) { #module, #name, POWER_##power, hint },
#include "common/profile/members.def"
};

static const char *const accessors[] = {
#define ACCESSOR(name) #name,
#include "common/profile/python.def"
};

static const char *const leads[] = {
#define LEADS(name) #name,
#include "common/profile/python.def"
};

static const char *const harmless[] = {
#define HARMLESS(name) #name,
#include "common/profile/python.def"
};

static const char *const reflects[] = {
#define REFLECTS(name) #name,
#include "common/profile/python.def"
};

static const char *const defines[] = {
#define DEFINES(name) #name,
#include "common/profile/python.def"
};

/* Of a module. */
static const char *const described[] = { "__name__", "__doc__", "__version__", "__all__",
	"__file__" };

/* Members with an underscore that named tuples have and code uses. */
static const char *const named[] = { "_replace", "_asdict", "_fields", "_make", "_field_defaults" };

static const char *const hidden[] = {
#define HIDDEN(module) #module,
#include "common/profile/python.def"
};

static const char *const shown[] = {
#define SHOWN(module, name) #module "." #name,
#include "common/profile/python.def"
};

static const char *const opens[] = {
#define OPENS(name) #name,
#include "common/profile/python.def"
};

static bool
among(const char *const *list, size_t count, const char *name)
{
	for (size_t n = 0; n < count; n++)
		if (strcmp(list[n], name) == 0)
			return true;
	return false;
}

bool
rules_dunder(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && memcmp(name, "__", 2) == 0 && memcmp(name + size - 2, "__", 2) == 0;
}

bool
rules_may(const struct check *check, enum power power)
{
	return policy_has(check->program->policy, power);
}

uint64_t
rules_line(PyObject *ast)
{
	return tree_number(ast, ATTR_lineno);
}

uint64_t
rules_column(const struct check *check, PyObject *ast)
{
	/* A line can be as long as the code, so columns are counted only for reported findings. */
	if (report_full(check->report))
		return 0;
	return source_column(
	    check->program->source, rules_line(ast), tree_number(ast, ATTR_col_offset));
}

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
is_hidden(const char *name)
{
	return among(hidden, COUNT(hidden), name);
}

/* Of any module: what the table has, or, without a table, no private name and no hidden module. */
static bool
is_public(const struct check *check, const char *module, const char *name)
{
	char dotted[2 * RULES_DOTTED];

	snprintf(dotted, sizeof dotted, "%s.%s", module, name);
	if (rules_dunder(name))
		return among(described, COUNT(described), name) ||
		       (!members_module(module) && among(harmless, COUNT(harmless), name));
	if (members_module(module))
		return members_public(dotted) ||
		       (members_module(dotted) && policy_module(check->program->policy, dotted));
	if (is_hidden(name + strspn(name, "_")) && !among(shown, COUNT(shown), dotted))
		return false;
	return name[0] != '_' || among(named, COUNT(named), name);
}

static bool
allow_member(struct check *check, const char *module, const char *name, const char **hint)
{
	*hint = NULL;
	for (const struct member *row = members; row < members + COUNT(members); row++)
		if (strcmp(row->module, module) == 0 && strcmp(row->name, name) == 0 &&
		    !rules_may(check, row->power)) {
			*hint = row->hint;
			return false;
		}
	return rules_may(check, POWER_imports) || is_public(check, module, name);
}

/* There the module becomes an attribute of the class. */
static void
forbid_in_class(struct check *check, const struct node *node, PyObject *at)
{
	const struct node *nodes = check->program->tree.nodes;

	while (node->kind != NODE_Module && node->kind != NODE_FunctionDef &&
	       node->kind != NODE_AsyncFunctionDef) {
		if (node->kind == NODE_ClassDef && !rules_may(check, POWER_imports)) {
			FOUND(check, RULE_class_import, at, NULL,
			    "Import of a module in a class is not allowed");
			return;
		}
		node = &nodes[node->parent];
	}
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
		else
			forbid_in_class(check, node, alias);
	}
}

/* In the box a star import of the standard library gives what the profile allows.  Of a library it
 * gives no private names, and on_name() refuses modules. */
static bool
has_star(const struct check *check, const char *module)
{
	return members_module(module) || rules_may(check, POWER_compute);
}

/* One name of `from module import name`. */
static void
on_imported_name(struct check *check, const struct node *node, PyObject *alias, const char *module)
{
	const char *name = tree_text(alias, ATTR_name), *hint;
	char dotted[RULES_DOTTED];

	if (name == NULL)
		return;
	bool star = strcmp(name, "*") == 0;
	snprintf(dotted, sizeof dotted, "%s%s%s", module, star ? "" : ".", star ? "" : name);
	if (!policy_module(check->program->policy, dotted))
		forbid_import(
		    check, alias, policy_leads(check->program->policy, module) ? dotted : module);
	else if (star && !rules_may(check, POWER_imports) && !has_star(check, module))
		FOUND(check, RULE_star_import, alias, NULL, "Star import from '%s' is not allowed",
		    module);
	else if (!star && !allow_member(check, module, name, &hint))
		FOUND(check, RULE_module_attribute, alias, hint, "Import '%s' is not allowed",
		    dotted);
	else if (members_module(dotted))
		forbid_in_class(check, node, alias);
	else
		protocols_alias(check, alias, dotted);
}

static void
on_import_from(struct check *check, const struct node *node)
{
	PyObject *aliases = tree_get(node->ast, ATTR_names);
	const char *module = tree_text(node->ast, ATTR_module);

	if (tree_number(node->ast, ATTR_level) > 0) {
		if (!rules_may(check, POWER_imports))
			FOUND(check, RULE_relative_import, node->ast, NULL,
			    "Relative import is not allowed");
		return;
	}
	if (module == NULL)
		return;
	report_import(check->report, module);
	for (size_t n = 0; n < tree_length(node->ast, ATTR_names); n++)
		on_imported_name(check, node, PyList_GET_ITEM(aliases, (Py_ssize_t)n), module);
}

/* ---- attributes ---- */

bool
rules_attribute(const struct check *check, const char *attr)
{
	if (among(leads, COUNT(leads), attr))
		return rules_may(check, POWER_inspect);
	if (among(opens, COUNT(opens), attr))
		return rules_may(check, POWER_files) || rules_may(check, POWER_compute);
	if (strcmp(attr, "__class__") == 0)
		return true; /* protocols_attribute() looks at its use */
	if (!rules_dunder(attr) || among(harmless, COUNT(harmless), attr))
		return true;
	return rules_may(check, POWER_reflect) &&
	       (rules_may(check, POWER_compute) || among(reflects, COUNT(reflects), attr));
}

/* The dotted name of an expression a.b.c, if its root was imported. */
bool
rules_module_of(const struct check *check, PyObject *ast, char dotted[RULES_DOTTED])
{
	const char *chain[MAX_CHAIN];
	size_t count = 0;

	while (tree_kind(ast) == NODE_Attribute && count < MAX_CHAIN) {
		chain[count++] = tree_text(ast, ATTR_attr);
		ast = tree_get(ast, ATTR_value);
	}
	PyObject *root = ast != NULL && tree_kind(ast) == NODE_Name ? tree_get(ast, ATTR_id) : NULL;
	const char *module = root != NULL ? names_module(&check->program->names, root) : NULL;
	/* What an earlier statement of a session imported is a view, and needs no check here. */
	if (module == NULL)
		return false;
	size_t used = (size_t)snprintf(dotted, RULES_DOTTED, "%s", module);
	while (count > 0 && used < RULES_DOTTED) {
		const char *attr = chain[--count];
		used += (size_t)snprintf(
		    dotted + used, RULES_DOTTED - used, ".%s", attr != NULL ? attr : "");
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

/* An attribute that a pattern or getattr() names. */
static bool
allow_named(const struct check *check, const char *attr)
{
	bool formats = strcmp(attr, "format") == 0 || strcmp(attr, "format_map") == 0;

	return rules_attribute(check, attr) &&
	       (rules_may(check, POWER_compute) ||
		   (!formats && strcmp(attr, "__class__") != 0 && !protocols_restricts(attr)));
}

/* object.__setattr__(self, "x", 1), as a frozen class needs it */
static bool
names_literally(const struct check *check, const struct node *node, const char *attr)
{
	PyObject *call = check->program->tree.nodes[node->parent].ast;
	bool sets = strcmp(attr, "__setattr__") == 0;
	size_t count = tree_length(call, ATTR_args), at = count - (sets ? 2 : 1);

	if ((!sets && strcmp(attr, "__delattr__") != 0) || tree_kind(call) != NODE_Call ||
	    tree_get(call, ATTR_func) != node->ast || at > 1 ||
	    tree_length(call, ATTR_keywords) > 0)
		return false;

	PyObject *name = PyList_GET_ITEM(tree_get(call, ATTR_args), (Py_ssize_t)at);
	const char *text = tree_kind(name) == NODE_Constant ? tree_text(name, ATTR_value) : NULL;

	return text != NULL && allow_named(check, text);
}

static void
on_attribute(struct check *check, const struct node *node)
{
	const char *attr = tree_text(node->ast, ATTR_attr), *hint = NULL;
	PyObject *value = tree_get(node->ast, ATTR_value);
	char module[RULES_DOTTED], dotted[2 * RULES_DOTTED];

	if (attr == NULL || value == NULL)
		return;
	if (!rules_attribute(check, attr) && !names_literally(check, node, attr)) {
		FOUND_ATTR(check, RULE_dunder_attribute, node->ast, attr, NULL,
		    "Attribute '%s' is not allowed", attr);
		return;
	}
	protocols_attribute(check, node, attr);
	if (!rules_module_of(check, value, module)) {
		protocols_unknown(check, node, attr);
		return;
	}
	snprintf(dotted, sizeof dotted, "%s.%s", module, attr);
	if (!within_partial(check, value, dotted) || !allow_member(check, module, attr, &hint))
		FOUND_ATTR(check, RULE_module_attribute, node->ast, attr, hint,
		    "'%s' is not allowed", dotted);
	else
		protocols_import(check, node, dotted);
}

static void
on_match_class(struct check *check, const struct node *node)
{
	PyObject *attrs = tree_get(node->ast, ATTR_kwd_attrs);

	protocols_pattern(check, node);
	for (size_t n = 0; n < tree_length(node->ast, ATTR_kwd_attrs); n++) {
		const char *attr = tree_string(PyList_GET_ITEM(attrs, (Py_ssize_t)n));
		if (attr != NULL && !allow_named(check, attr))
			FOUND(check, RULE_dunder_attribute, node->ast, NULL,
			    "Attribute '%s' is not allowed", attr);
	}
}

/* Is a part of a field such as {0.a.b[c]} an attribute that is not allowed? */
static bool
leads_away(const struct check *check, const char *field, size_t size)
{
	char part[RULES_DOTTED];
	size_t used;

	for (size_t n = strcspn(field, ".["); n < size; n += used) {
		used = strcspn(field + ++n, ".[]{}!:");
		if (used >= sizeof part || n + used > size)
			return false;
		memcpy(part, field + n, used);
		part[used] = '\0';
		if (!rules_attribute(check, part) || strncmp(part, "__", 2) == 0)
			return true;
		if (strchr("{}!:", field[n + used]) != NULL)
			return false;
	}
	return false;
}

/* "{0.__class__}": format() reads attributes that the text names. */
static void
on_constant(struct check *check, const struct node *node)
{
	const char *text = tree_text(node->ast, ATTR_value);
	const char *at =
	    text != NULL && !rules_may(check, POWER_compute) ? strchr(text, '{') : NULL;

	for (; at != NULL; at = strchr(at, '{')) {
		size_t size = strcspn(++at, "{}");
		if (leads_away(check, at, size)) {
			FOUND(check, RULE_format_attribute, node->ast, NULL,
			    "Text that makes format() read a dunder attribute is not allowed");
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
		if (!rules_may(check, POWER_compute))
			FOUND(check, RULE_computed_name, node->ast, NULL,
			    "'%s' is only allowed with a literal name", name);
	} else if (!allow_named(check, attr)) {
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
		if (!rules_may(check, row->power))
			FOUND(check, RULE_forbidden_call, node->ast, row->hint,
			    "'%s' is not allowed", name);
		return true;
	}
	return false;
}

bool
rules_dunder_name(const struct check *check, PyObject *id, const char *name)
{
	if (among(leads, COUNT(leads), name))
		return rules_may(check, POWER_inspect);
	if (among(harmless, COUNT(harmless), name) || rules_may(check, POWER_compute))
		return rules_may(check, POWER_reflect) || among(harmless, COUNT(harmless), name) ||
		       PySet_Contains(check->program->names.bound, id) == 1;
	return among(defines, COUNT(defines), name) ||
	       (rules_may(check, POWER_reflect) && among(reflects, COUNT(reflects), name));
}

/* Code may not use a module but with a dot. Returns true if the name is a module. */
static bool
on_module(struct check *check, const struct node *node, PyObject *id, const char *name)
{
	const struct node *parent = &check->program->tree.nodes[node->parent];
	const struct names *names = &check->program->names;
	char module[RULES_DOTTED];

	if (names_mixed(names, id)) {
		FOUND(check, RULE_module_attribute, node->ast,
		    "Give each import a name of its own.", "'%s' is imported from several modules",
		    name);
		return true;
	}
	if (!rules_module_of(check, node->ast, module))
		return false;
	if (!names_whole(names, id)) {
		protocols_import(check, node, module);
		return true;
	}
	if (parent->kind != NODE_Attribute)
		FOUND(check, RULE_module_attribute, node->ast,
		    "Name its member, as in module.member; another variable needs another name.",
		    "Module '%s' is not allowed as a value", name);
	return true;
}

/* An earlier statement may have bound it, or a star import. */
static void
on_unbound(struct check *check, const struct node *node, const char *name)
{
	if (check->program->names.star && is_hidden(name) && !rules_may(check, POWER_imports))
		FOUND(check, RULE_module_attribute, node->ast, NULL, "'%s' is not allowed", name);
	protocols_unknown(check, node, name);
}

static void
on_name(struct check *check, const struct node *node)
{
	PyObject *id = tree_get(node->ast, ATTR_id), *context = tree_get(node->ast, ATTR_ctx);
	const char *name = tree_string(id);

	if (name == NULL || context == NULL)
		return;
	bool load = tree_kind(context) == NODE_Load;
	if (load && on_builtin(check, node, name))
		return;
	if (load && !rules_may(check, POWER_imports) && on_module(check, node, id, name))
		return;
	if (protocols_match_args(check, node, name))
		return;
	if (load && !names_bound(&check->program->names, id))
		on_unbound(check, node, name);
	protocols_name(check, node, name);
	if (rules_dunder(name) && !rules_dunder_name(check, id, name))
		FOUND(check, RULE_dunder_name, node->ast, NULL, "Name '%s' is not allowed", name);
	else if (load && among(accessors, COUNT(accessors), name))
		on_accessor(check, node, name);
}

static void (*const on_node[NODE_COUNT])(struct check *, const struct node *) = {
	[NODE_Attribute] = on_attribute,
	[NODE_AsyncFunctionDef] = protocols_definition,
	[NODE_ClassDef] = protocols_definition,
	[NODE_Constant] = on_constant,
	[NODE_FunctionDef] = protocols_definition,
	[NODE_Import] = on_import,
	[NODE_ImportFrom] = on_import_from,
	[NODE_MatchClass] = on_match_class,
	[NODE_Name] = on_name,
	[NODE_keyword] = protocols_definition,
	[NODE_arg] = protocols_definition,
};

void
rules_check(const struct program *program, struct report *report)
{
	struct check check = { program, report };

	for (size_t n = 0; n < program->tree.count; n++)
		if (on_node[program->tree.nodes[n].kind] != NULL)
			on_node[program->tree.nodes[n].kind](&check, &program->tree.nodes[n]);
}
