/* SPDX-License-Identifier: Apache-2.0 */
/*
 * danger.c - warns of code that will not end, uses up the memory or runs text, and of members that
 * a module does not have.
 *
 * It looks at each place alone and follows no value, so it misses much; what it says must be right
 * nearly always.  Trusts nothing: numbers and names come from a program.
 */
#include "validator/python/danger.h"

#include "validator/python/finding.h"
#include "validator/python/members.h"

#include "common/base/auto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_NESTED = 8,         /* operators that a number is computed by */
	MANY_BITS = 10000000,   /* of a power, which takes seconds */
	MANY_ITEMS = 100000000, /* of a list, which takes a gigabyte */
};

static const struct {
	const char *dotted, *advice;
} calls[] = {
#define CALLS(dotted, advice) { dotted, advice },
#include "validator/dangers.def"
};

static const struct {
	const char *name, *advice;
	bool value;
} given[] = {
#define True                          true
#define False                         false
#define GIVEN(keyword, value, advice) { #keyword, advice, value },
#include "validator/dangers.def"
#undef True
#undef False
};

static const char *const leaves[] = {
#define LEAVES(name) name,
#include "validator/dangers.def"
};

static const char *const evaluators[] = {
#define BUILTIN_OF_INPUT(name) #name,
#include "validator/dangers.def"
};

/* Modules whose table lacks members that profiles withhold. */
static const char *const cut[] = {
#define ONLY(module, name) #module,
#include "common/profile/members.def"
};

/* What is known of a node. */
struct place {
	uint32_t function, loop; /* the innermost around it; 0: none */
	bool left;               /* a loop: something in it ends it */
	bool decides;            /* a function: something in it depends on a condition */
	bool calls_itself;
};

struct walk {
	struct check check;
	struct place *places;
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
is_function(enum node_kind kind)
{
	return kind == NODE_FunctionDef || kind == NODE_AsyncFunctionDef || kind == NODE_Lambda;
}

static bool
is_loop(enum node_kind kind)
{
	return kind == NODE_While || kind == NODE_For || kind == NODE_AsyncFor;
}

/* The name that is called, dotted if it was imported; "": it has none. */
static const char *
callee(const struct walk *walk, PyObject *call, char dotted[RULES_DOTTED])
{
	PyObject *func = tree_get(call, ATTR_func);

	dotted[0] = '\0';
	if (func == NULL || rules_module_of(&walk->check, func, dotted))
		return dotted;
	const char *name = tree_kind(func) == NODE_Name ? tree_text(func, ATTR_id) : NULL;
	return name != NULL ? name : dotted;
}

/* ---- what the walk finds first ---- */

static void
find_place(struct walk *walk, size_t index)
{
	const struct node *nodes = walk->check.program->tree.nodes;
	uint32_t parent = nodes[index].parent;
	struct place *place = &walk->places[index];

	if (index == 0)
		return;
	*place = (struct place){
		.function = walk->places[parent].function,
		.loop = walk->places[parent].loop,
	};
	if (is_function(nodes[parent].kind))
		*place = (struct place){ .function = parent };
	else if (is_loop(nodes[parent].kind))
		place->loop = parent;
}

static void
leave(struct walk *walk, size_t index, bool all)
{
	for (uint32_t loop = walk->places[index].loop; loop != 0; loop = walk->places[loop].loop) {
		walk->places[loop].left = true;
		if (!all)
			return;
	}
}

static void
note_call(struct walk *walk, size_t index)
{
	const struct node *nodes = walk->check.program->tree.nodes;
	uint32_t function = walk->places[index].function;
	char dotted[RULES_DOTTED];
	const char *name = callee(walk, nodes[index].ast, dotted);
	/* A method is not called by its name alone. */
	const char *own = function != 0 && nodes[function].kind != NODE_Lambda &&
	                          nodes[nodes[function].parent].kind != NODE_ClassDef
	                      ? tree_text(nodes[function].ast, ATTR_name)
	                      : NULL;

	if (among(leaves, COUNT(leaves), name))
		leave(walk, index, true);
	if (own != NULL && strcmp(own, name) == 0)
		walk->places[function].calls_itself = true;
}

static const enum {
	NOTHING,
	LEAVES_ONE,
	LEAVES_ALL,
	DECIDES
} effects[NODE_COUNT] = {
	[NODE_Assert] = LEAVES_ALL,
	[NODE_AsyncFor] = LEAVES_ALL,
	[NODE_Await] = LEAVES_ALL,
	[NODE_BoolOp] = DECIDES,
	[NODE_Break] = LEAVES_ONE,
	[NODE_ExceptHandler] = DECIDES,
	[NODE_For] = DECIDES,
	[NODE_If] = DECIDES,
	[NODE_IfExp] = DECIDES,
	[NODE_Raise] = LEAVES_ALL,
	[NODE_Return] = LEAVES_ALL,
	[NODE_While] = DECIDES,
	[NODE_Yield] = LEAVES_ALL,
	[NODE_YieldFrom] = LEAVES_ALL,
	[NODE_comprehension] = DECIDES,
	[NODE_match_case] = DECIDES,
};

static void
note(struct walk *walk, size_t index)
{
	enum node_kind kind = walk->check.program->tree.nodes[index].kind;
	bool generates = kind == NODE_Yield || kind == NODE_YieldFrom || kind == NODE_Raise;

	find_place(walk, index);
	if (effects[kind] == DECIDES || generates)
		walk->places[walk->places[index].function].decides = true;
	if (effects[kind] == LEAVES_ONE || effects[kind] == LEAVES_ALL)
		leave(walk, index, effects[kind] == LEAVES_ALL);
	if (kind == NODE_Call)
		note_call(walk, index);
}

/* ---- what it says ---- */

#define WARN(walk, ast, fmt, ...) \
	report_advice((walk)->check.report, "Line %zu: " fmt, (size_t)rules_line(ast), __VA_ARGS__)

static void
on_while(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast;
	PyObject *test = tree_get(ast, ATTR_test);
	PyObject *value =
	    test != NULL && tree_kind(test) == NODE_Constant ? tree_get(test, ATTR_value) : NULL;

	if (value != NULL && PyObject_IsTrue(value) == 1 && !walk->places[index].left)
		WARN(walk, ast, "%s", "this loop never ends: nothing in it leaves it");
}

static void
on_function(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast;
	const char *name = tree_text(ast, ATTR_name);

	if (name != NULL && walk->places[index].calls_itself && !walk->places[index].decides)
		WARN(walk, ast, "%s() always calls itself, and so never returns", name);
}

/* The number that an expression of constants gives; NAN: none that is known. */
static double
number(PyObject *ast, int nested)
{
	PyObject *value = tree_kind(ast) == NODE_Constant ? tree_get(ast, ATTR_value) : NULL;

	if (value != NULL && PyLong_Check(value)) {
		double result = PyLong_AsDouble(value);
		if (PyErr_Occurred() == NULL)
			return result;
		PyErr_Clear();
		return INFINITY;
	}
	PyObject *op = tree_kind(ast) == NODE_BinOp ? tree_get(ast, ATTR_op) : NULL;
	if (op == NULL || nested >= MAX_NESTED)
		return NAN;
	double left = number(tree_get(ast, ATTR_left), nested + 1);
	double right = number(tree_get(ast, ATTR_right), nested + 1);
	return tree_kind(op) == NODE_Pow    ? pow(left, right)
	       : tree_kind(op) == NODE_Mult ? left * right
	                                    : NAN;
}

static bool
is_sequence(PyObject *ast)
{
	PyObject *value = tree_kind(ast) == NODE_Constant ? tree_get(ast, ATTR_value) : NULL;

	return tree_kind(ast) == NODE_List || tree_kind(ast) == NODE_Tuple ||
	       (value != NULL && (PyUnicode_Check(value) || PyBytes_Check(value)));
}

static void
on_operator(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast;
	PyObject *left = tree_get(ast, ATTR_left), *right = tree_get(ast, ATTR_right);
	enum node_kind op = tree_kind(tree_get(ast, ATTR_op));

	if (op == NODE_Pow && number(left, 0) >= 2 &&
	    number(right, 0) * log2(number(left, 0)) > MANY_BITS)
		WARN(walk, ast, "%s",
		    "this power has millions of digits; use a float or pow(a, b, m)");
	if (op == NODE_Mult && ((is_sequence(left) && number(right, 0) >= MANY_ITEMS) ||
				   (is_sequence(right) && number(left, 0) >= MANY_ITEMS)))
		WARN(walk, ast, "%s", "this needs more memory than a box has");
}

/* Is one of the arguments a call of this built-in? */
static PyObject *
argument_call(const struct walk *walk, PyObject *call, const char *name)
{
	char dotted[RULES_DOTTED];

	for (size_t n = 0; n < tree_length(call, ATTR_args); n++) {
		PyObject *arg = PyList_GET_ITEM(tree_get(call, ATTR_args), (Py_ssize_t)n);
		if (tree_kind(arg) == NODE_Call && strcmp(callee(walk, arg, dotted), name) == 0)
			return arg;
	}
	return NULL;
}

static void
on_keyword(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast;
	const char *name = tree_text(ast, ATTR_arg);
	PyObject *value = tree_get(ast, ATTR_value);
	PyObject *constant =
	    value != NULL && tree_kind(value) == NODE_Constant ? tree_get(value, ATTR_value) : NULL;

	for (size_t n = 0; name != NULL && constant != NULL && n < COUNT(given); n++)
		if (strcmp(given[n].name, name) == 0 &&
		    constant == (given[n].value ? Py_True : Py_False))
			WARN(walk, ast, "%s=%s: %s", name, given[n].value ? "True" : "False",
			    given[n].advice);
}

static void
on_call(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast, *range;
	char dotted[RULES_DOTTED];
	const char *name = callee(walk, ast, dotted);

	/* What the profile refuses is a finding already. */
	for (size_t n = 0; n < COUNT(calls); n++)
		if (strcmp(calls[n].dotted, name) == 0 &&
		    policy_module(walk->check.program->policy, name))
			WARN(walk, ast, "%s() %s", name, calls[n].advice);
	if (among(evaluators, COUNT(evaluators), name) && rules_may(&walk->check, POWER_evaluate) &&
	    argument_call(walk, ast, "input") != NULL)
		WARN(walk, ast, "%s() runs whatever is typed; use int(), float() or json.loads()",
		    name);
	range = strcmp(name, "list") == 0 || strcmp(name, "tuple") == 0
	            ? argument_call(walk, ast, "range")
	            : NULL;
	if (range != NULL && tree_length(range, ATTR_args) == 1 &&
	    number(PyList_GET_ITEM(tree_get(range, ATTR_args), 0), 0) >= MANY_ITEMS)
		WARN(walk, ast, "%s", "this needs more memory than a box has; loop over the range");
}

static void
name_member(struct walk *walk, PyObject *ast, const char *module, const char *name)
{
	char dotted[2 * RULES_DOTTED];

	snprintf(dotted, sizeof dotted, "%s.%s", module, name);
	if (!members_module(module) || name[0] == '_' || members_public(dotted) ||
	    members_module(dotted) || among(cut, COUNT(cut), module))
		return;
	const char *near = members_near(dotted);
	WARN(walk, ast, "module %s has no public member '%s'%s%s%s", module, name,
	    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
	    near != NULL ? "'?" : "");
}

static void
on_attribute(struct walk *walk, size_t index)
{
	PyObject *ast = walk->check.program->tree.nodes[index].ast;
	const char *attr = tree_text(ast, ATTR_attr);
	PyObject *value = tree_get(ast, ATTR_value);
	char module[RULES_DOTTED];

	if (attr != NULL && value != NULL && rules_module_of(&walk->check, value, module))
		name_member(walk, ast, module, attr);
}

static void
on_alias(struct walk *walk, size_t index)
{
	const struct node *nodes = walk->check.program->tree.nodes, *node = &nodes[index];
	PyObject *from = nodes[node->parent].ast;
	const char *module =
	    tree_kind(from) == NODE_ImportFrom ? tree_text(from, ATTR_module) : NULL;
	const char *name = tree_text(node->ast, ATTR_name);

	if (module != NULL && name != NULL && strcmp(name, "*") != 0)
		name_member(walk, node->ast, module, name);
}

static void (*const on_node[NODE_COUNT])(struct walk *, size_t) = {
	[NODE_Attribute] = on_attribute,
	[NODE_AsyncFunctionDef] = on_function,
	[NODE_BinOp] = on_operator,
	[NODE_Call] = on_call,
	[NODE_FunctionDef] = on_function,
	[NODE_While] = on_while,
	[NODE_alias] = on_alias,
	[NODE_keyword] = on_keyword,
};

int
danger_advise(const struct program *program, struct report *report, struct err *e)
{
	const struct tree *tree = &program->tree;
	auto_free struct place *places = calloc(tree->count, sizeof *places);
	struct walk walk = { { program, report }, places };

	if (places == NULL)
		return err_sys(e, "look for dangers");
	for (size_t n = 0; n < tree->count; n++)
		note(&walk, n);
	for (size_t n = 0; n < tree->count; n++)
		if (on_node[tree->nodes[n].kind] != NULL)
			on_node[tree->nodes[n].kind](&walk, n);
	return 0;
}
