/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocols.c - refuses what makes the interpreter or a library read an attribute whose name is
 * computed, or run text, although no such name stands in the code.
 *
 * Trusts nothing: names and positions come from a program.
 */
#include "validator/python/protocols.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

static const struct direct {
	const char *dotted;
	size_t most;
} directs[] = {
#define DIRECT(module, name, most) { #module "." #name, most },
#include "common/profile/members.def"
};

/* Classes of classes: they make a class of a dict, as type() does. */
static const char *const metaclasses[] = {
#define METACLASS(module, name) #module "." #name,
#include "common/profile/members.def"
};

/* Built-in classes whose one positional pattern is the value itself. */
static const char *const self_matching[] = { "bool", "bytearray", "bytes", "dict", "float",
	"frozenset", "int", "list", "set", "str", "tuple" };

/* Built-in functions that take a class and do not call it. */
static const char *const takes_class[] = { "isinstance", "issubclass", "print", "repr", "str", "id",
	"hash" };

static bool
among(const char *const *list, size_t count, const char *name)
{
	for (size_t n = 0; n < count; n++)
		if (strcmp(list[n], name) == 0)
			return true;
	return false;
}

static PyObject *
item(PyObject *ast, enum node_attr attr, size_t n)
{
	return n < tree_length(ast, attr) ? PyList_GET_ITEM(tree_get(ast, attr), (Py_ssize_t)n)
	                                  : NULL;
}

static bool
contains(PyObject *ast, enum node_attr attr, PyObject *wanted)
{
	for (size_t n = 0; n < tree_length(ast, attr); n++)
		if (item(ast, attr, n) == wanted)
			return true;
	return false;
}

static const struct node *
parent_of(const struct check *check, const struct node *node)
{
	return &check->program->tree.nodes[node->parent];
}

/* Is the node what its parent calls? */
static bool
is_called(const struct check *check, const struct node *node)
{
	PyObject *parent = parent_of(check, node)->ast;

	return tree_kind(parent) == NODE_Call && tree_get(parent, ATTR_func) == node->ast;
}

/* Arguments by position, without * and **. */
static bool
has_only(PyObject *call, size_t least, size_t most)
{
	size_t count = tree_length(call, ATTR_args);

	for (size_t n = 0; n < count; n++)
		if (tree_kind(item(call, ATTR_args, n)) == NODE_Starred)
			return false;
	return count >= least && count <= most && tree_length(call, ATTR_keywords) == 0;
}

/* ---- libraries ---- */

static bool
is_decorator(const struct check *check, const struct node *node)
{
	const struct node *parent = parent_of(check, node);

	if (is_called(check, node)) {
		node = parent;
		parent = parent_of(check, node);
	}
	return parent->kind == NODE_ClassDef &&
	       contains(parent->ast, ATTR_decorator_list, node->ast);
}

static bool
is_metaclass(const struct check *check, const struct node *node)
{
	PyObject *parent = parent_of(check, node)->ast;
	const char *name = tree_kind(parent) == NODE_keyword ? tree_text(parent, ATTR_arg) : NULL;

	return name != NULL && strcmp(name, "metaclass") == 0;
}

void
protocols_import(struct check *check, const struct node *node, const char *dotted)
{
	bool right = true;

	if (rules_may(check, POWER_compute))
		return;
	for (const struct direct *row = directs; row < directs + COUNT(directs); row++)
		if (strcmp(row->dotted, dotted) == 0)
			right = row->most == 0
			            ? is_decorator(check, node)
			            : is_called(check, node) &&
			                  has_only(parent_of(check, node)->ast, 1, row->most);
	if (among(metaclasses, COUNT(metaclasses), dotted))
		right = is_metaclass(check, node);
	if (!right)
		FOUND(check, RULE_indirect_use, node->ast, NULL, "'%s' is not allowed in this use",
		    dotted);
}

/* Is the last part of the dotted name this name? */
static bool
ends_with(const char *dotted, const char *name)
{
	return strcmp(strrchr(dotted, '.') + 1, name) == 0;
}

bool
protocols_restricts(const char *name)
{
	for (const struct direct *row = directs; row < directs + COUNT(directs); row++)
		if (ends_with(row->dotted, name))
			return true;
	for (size_t n = 0; n < COUNT(metaclasses); n++)
		if (ends_with(metaclasses[n], name))
			return true;
	return false;
}

void
protocols_unknown(struct check *check, const struct node *node, const char *name)
{
	for (const struct direct *row = directs; row < directs + COUNT(directs); row++)
		if (ends_with(row->dotted, name))
			protocols_import(check, node, row->dotted);
	for (size_t n = 0; n < COUNT(metaclasses); n++)
		if (ends_with(metaclasses[n], name))
			protocols_import(check, node, metaclasses[n]);
}

void
protocols_alias(struct check *check, PyObject *alias, const char *dotted)
{
	bool found = among(metaclasses, COUNT(metaclasses), dotted);

	for (const struct direct *row = directs; row < directs + COUNT(directs); row++)
		found = found || strcmp(row->dotted, dotted) == 0;
	if (found && tree_get(alias, ATTR_asname) != NULL && !rules_may(check, POWER_compute))
		FOUND(check, RULE_indirect_use, alias,
		    "Import it under its own name: later statements know it by that.",
		    "'%s' is not allowed under another name", dotted);
}

/* ---- classes ---- */

/* An argument of a built-in function that does not call it. */
static bool
is_inspected(const struct check *check, const struct node *node)
{
	const struct node *parent = parent_of(check, node);

	if (parent->kind == NODE_Tuple)
		parent = parent_of(check, parent);
	PyObject *func = parent->kind == NODE_Call ? tree_get(parent->ast, ATTR_func) : NULL;
	const char *name =
	    func != NULL && tree_kind(func) == NODE_Name ? tree_text(func, ATTR_id) : NULL;

	if (parent->kind == NODE_Compare || name == NULL || func == node->ast)
		return parent->kind == NODE_Compare;
	if (PySet_Contains(check->program->names.bound, tree_get(func, ATTR_id)) == 1)
		return false;
	return among(takes_class, COUNT(takes_class), name) ||
	       (strcmp(name, "map") == 0 && has_only(parent->ast, 2, 2));
}

static bool
is_annotation(const struct check *check, const struct node *node)
{
	PyObject *parent = parent_of(check, node)->ast;

	return tree_get(parent, ATTR_annotation) == node->ast ||
	       tree_get(parent, ATTR_returns) == node->ast;
}

/* A class whose class makes classes? */
static bool
is_class(const struct check *check, PyObject *ast)
{
	static const char *const classes[] = { "object", "type", "int", "str", "list", "dict",
		"tuple", "set", "bytes", "float", "bool", "Exception" };
	PyObject *id = tree_kind(ast) == NODE_Name ? tree_get(ast, ATTR_id) : NULL;
	const char *name = id != NULL ? tree_string(id) : NULL;
	char dotted[RULES_DOTTED];

	/* list[int] forwards attributes, and so do instances of its class. */
	if (tree_kind(ast) == NODE_Subscript)
		return is_class(check, tree_get(ast, ATTR_value));
	if (name == NULL)
		return rules_module_of(check, ast, dotted);
	return names_class(&check->program->names, id) != NULL ||
	       (PySet_Contains(check->program->names.bound, id) == 0 &&
		   among(classes, COUNT(classes), name));
}

/* Can it be type(name, bases, namespace)? */
static bool
may_make_class(PyObject *call)
{
	size_t count = tree_length(call, ATTR_args);
	PyObject *bases = item(call, ATTR_args, 1);

	for (size_t n = 0; n < count; n++)
		if (tree_kind(item(call, ATTR_args, n)) == NODE_Starred)
			return true;
	return count == 3 && tree_kind(bases) != NODE_Constant;
}

/* Is what is called something that the program computed, and no function or class that it names? */
static bool
is_computed(const struct check *check, PyObject *func)
{
	const struct names *names = &check->program->names;
	PyObject *id = tree_kind(func) == NODE_Name ? tree_get(func, ATTR_id) : NULL;
	char dotted[RULES_DOTTED];

	if (rules_module_of(check, func, dotted))
		return false;
	return id == NULL || (PySet_Contains(names->bound, id) == 1 &&
				 names_class(names, id) == NULL && !names_function(names, id));
}

/* Known are a class that the program names, a built-in one, a member of a module, and Generic[T].
 */
static bool
has_computed_base(const struct check *check, PyObject *class)
{
	for (size_t n = 0; n < tree_length(class, ATTR_bases); n++) {
		PyObject *base = item(class, ATTR_bases, n);

		if (tree_kind(base) == NODE_Subscript)
			base = tree_get(base, ATTR_value);
		if (base == NULL || is_computed(check, base))
			return true;
	}
	return false;
}

/* Does any call of the program look like one that makes a class, or can one of its classes do so?
 */
static bool
makes_classes(const struct check *check)
{
	const struct tree *tree = &check->program->tree;

	for (size_t n = 0; n < tree->count; n++) {
		PyObject *ast = tree->nodes[n].ast;

		if (tree->nodes[n].kind == NODE_Call && may_make_class(ast) &&
		    is_computed(check, tree_get(ast, ATTR_func)))
			return true;
		if (tree->nodes[n].kind == NODE_ClassDef && has_computed_base(check, ast))
			return true;
	}
	return false;
}

/* May a variable or a container hold its value, other than as a key? */
static bool
is_kept(const struct check *check, const struct node *node)
{
	switch (parent_of(check, node)->kind) {
	case NODE_Expr:
	case NODE_Subscript:
	case NODE_FormattedValue:
		return false;
	default:
		return true;
	}
}

/* type(x), whose result may be called, but not with what makes a class. */
static bool
is_type_call(const struct check *check, const struct node *node)
{
	const struct node *call = parent_of(check, node);

	if (!is_called(check, node) || !has_only(call->ast, 1, 1))
		return false;
	PyObject *arg = item(call->ast, ATTR_args, 0);
	PyObject *inner = tree_kind(arg) == NODE_Call ? tree_get(arg, ATTR_func) : NULL;
	const char *name =
	    inner != NULL && tree_kind(inner) == NODE_Name ? tree_text(inner, ATTR_id) : NULL;

	bool metaclass = is_class(check, arg) || (name != NULL && strcmp(name, "type") == 0);

	if (is_called(check, call))
		return !metaclass && !may_make_class(parent_of(check, call)->ast);
	if (parent_of(check, call)->kind == NODE_Attribute || is_inspected(check, call))
		return true;
	return !metaclass && !(is_kept(check, call) && makes_classes(check));
}

void
protocols_name(struct check *check, const struct node *node, const char *name)
{
	if (strcmp(name, "type") != 0 || rules_may(check, POWER_compute) ||
	    tree_kind(tree_get(node->ast, ATTR_ctx)) != NODE_Load)
		return;
	if (!is_type_call(check, node) && !is_inspected(check, node) && !is_annotation(check, node))
		FOUND(check, RULE_type_use, node->ast, NULL, "'type' is not allowed in this use");
}

/* x.__class__ is what type(x) is. */
static bool
is_plain_class(const struct check *check, const struct node *node)
{
	const struct node *parent = parent_of(check, node);
	const char *attr =
	    parent->kind == NODE_Attribute ? tree_text(parent->ast, ATTR_attr) : NULL;

	if (attr != NULL)
		return strcmp(attr, "__class__") != 0;
	if (is_called(check, node))
		return !is_class(check, tree_get(node->ast, ATTR_value)) &&
		       tree_length(parent->ast, ATTR_args) != 3;
	return parent->kind == NODE_Expr || is_inspected(check, node);
}

/* ---- format() ---- */

static bool
is_literal(const struct check *check, PyObject *ast)
{
	if (tree_kind(ast) == NODE_Constant)
		return tree_text(ast, ATTR_value) != NULL;
	return tree_kind(ast) == NODE_Name &&
	       names_literal(&check->program->names, tree_get(ast, ATTR_id));
}

void
protocols_attribute(struct check *check, const struct node *node, const char *attr)
{
	PyObject *value = tree_get(node->ast, ATTR_value);

	if (rules_may(check, POWER_compute))
		return;
	if (strcmp(attr, "__class__") == 0 && !is_plain_class(check, node))
		FOUND(check, RULE_type_use, node->ast, NULL,
		    "'__class__' is not allowed in this use");
	if ((strcmp(attr, "format") == 0 || strcmp(attr, "format_map") == 0) &&
	    !is_literal(check, value))
		FOUND(check, RULE_computed_format, node->ast, NULL,
		    "'%s' is only allowed of literal text", attr);
}

/* ---- patterns ---- */

static bool
is_plain_base(const struct check *check, PyObject *base)
{
	char dotted[RULES_DOTTED];

	return rules_module_of(check, base, dotted) && strcmp(dotted, "typing.NamedTuple") == 0;
}

static bool
is_dataclass(const struct check *check, PyObject *decorator)
{
	char dotted[RULES_DOTTED];
	PyObject *func =
	    tree_kind(decorator) == NODE_Call ? tree_get(decorator, ATTR_func) : decorator;

	return func != NULL && rules_module_of(check, func, dotted) &&
	       strcmp(dotted, "dataclasses.dataclass") == 0;
}

/* A class of which only its own instances are instances, and whose attributes stand in the code. */
static bool
is_plain(const struct check *check, PyObject *id)
{
	PyObject *class = names_class(&check->program->names, id);

	if (class == NULL || tree_length(class, ATTR_keywords) > 0)
		return false;
	for (size_t n = 0; n < tree_length(class, ATTR_bases); n++)
		if (!is_plain_base(check, item(class, ATTR_bases, n)))
			return false;
	for (size_t n = 0; n < tree_length(class, ATTR_decorator_list); n++)
		if (!is_dataclass(check, item(class, ATTR_decorator_list, n)))
			return false;
	return true;
}

void
protocols_pattern(struct check *check, const struct node *node)
{
	PyObject *class = tree_get(node->ast, ATTR_cls);
	PyObject *id =
	    class != NULL && tree_kind(class) == NODE_Name ? tree_get(class, ATTR_id) : NULL;
	const char *name = id != NULL ? tree_string(id) : NULL;

	if (rules_may(check, POWER_compute) || tree_length(node->ast, ATTR_patterns) == 0)
		return;
	bool known = name != NULL && PySet_Contains(check->program->names.bound, id) == 0 &&
	             among(self_matching, COUNT(self_matching), name);
	if (!known && (id == NULL || !is_plain(check, id)))
		FOUND(check, RULE_class_pattern, node->ast, NULL,
		    "A positional pattern of this class is not allowed");
}

bool
protocols_match_args(const struct check *check, const struct node *node, const char *name)
{
	PyObject *parent = parent_of(check, node)->ast;
	PyObject *value = tree_kind(parent) == NODE_Assign ? tree_get(parent, ATTR_value) : NULL;

	if (strcmp(name, "__match_args__") != 0 || value == NULL ||
	    (tree_kind(value) != NODE_Tuple && tree_kind(value) != NODE_List))
		return false;
	for (size_t n = 0; n < tree_length(value, ATTR_elts); n++) {
		PyObject *one = item(value, ATTR_elts, n);
		const char *attr =
		    tree_kind(one) == NODE_Constant ? tree_text(one, ATTR_value) : NULL;

		if (attr == NULL || !rules_attribute(check, attr))
			return false;
	}
	return true;
}

/* ---- definitions ---- */

void
protocols_definition(struct check *check, const struct node *node)
{
	bool argument = node->kind == NODE_arg || node->kind == NODE_keyword;
	PyObject *id = tree_get(node->ast, argument ? ATTR_arg : ATTR_name);
	const char *name = id != NULL ? tree_string(id) : NULL;

	if (name != NULL && rules_dunder(name) && !rules_dunder_name(check, id, name))
		FOUND(check, RULE_dunder_name, node->ast, NULL, "Name '%s' is not allowed", name);
}
