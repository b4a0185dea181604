/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - flattens CPython's AST along the classes' own _fields, without recursion.
 *
 * A hostile program decides the depth and the size of the tree.  CPython limits the depth; the
 * limit on the source limits the size.
 */
#include "validator/python/tree.h"

#include "common/base/auto.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum node_kind kind;
} classes[] = {
#define NODE(class, binds, decisions) { #class, NODE_##class },
#include "validator/python/ast.def"
};

static const char *const attr_texts[ATTR_COUNT] = {
	[ATTR_none] = "",
#define ATTR(name) [ATTR_##name] = #name,
#include "validator/python/ast.def"
};

enum {
	MAX_CLASSES = 256,
};

/* Made once; kept for the life of the process. */
static PyObject *attr_names[ATTR_COUNT];
static PyObject *numbers; /* class to its index in `known` */
static struct known {
	PyObject *fields; /* a tuple of names */
	enum node_kind kind;
} known[MAX_CLASSES];
static size_t known_count;

static enum node_kind
kind_of(const char *class)
{
	for (size_t n = 0; n < COUNT(classes); n++)
		if (strcmp(classes[n].name, class) == 0)
			return classes[n].kind;
	return NODE_other;
}

static int
know_class(PyObject *name, PyObject *type)
{
	PyObject *fields = PyObject_GetAttrString(type, "_fields");
	PyObject *number = PyLong_FromSize_t(known_count);
	int failed = fields == NULL || number == NULL || !PyTuple_Check(fields) ||
	             known_count == MAX_CLASSES || PyDict_SetItem(numbers, type, number) != 0;

	Py_XDECREF(number);
	if (failed) {
		Py_XDECREF(fields);
		return -1;
	}
	known[known_count++] = (struct known){ fields, kind_of(PyUnicode_AsUTF8(name)) };
	return 0;
}

static int
know_classes(PyObject *module)
{
	PyObject *base = PyObject_GetAttrString(module, "AST"), *name, *value;
	Py_ssize_t at = 0;
	int status = base != NULL ? 0 : -1;

	while (status == 0 && PyDict_Next(PyModule_GetDict(module), &at, &name, &value))
		if (PyType_Check(value) && PyObject_IsSubclass(value, base) == 1)
			status = know_class(name, value);
	Py_XDECREF(base);
	return status;
}

int
tree_prepare(struct err *e)
{
	PyObject *module = PyImport_ImportModule("_ast");

	numbers = PyDict_New();
	int status = module != NULL && numbers != NULL ? know_classes(module) : -1;
	for (size_t n = ATTR_none; status == 0 && n < ATTR_COUNT; n++) {
		attr_names[n] = PyUnicode_InternFromString(attr_texts[n]);
		status = attr_names[n] != NULL ? 0 : -1;
	}
	Py_XDECREF(module);
	if (status == 0)
		return 0;
	PyErr_Clear();
	return err_set(e, ERR_internal, "read the classes of Python's syntax tree");
}

static const struct known *
class_of(PyObject *object)
{
	PyObject *number = PyDict_GetItemWithError(numbers, (PyObject *)Py_TYPE(object));

	return number != NULL ? &known[PyLong_AsSize_t(number)] : NULL;
}

enum node_kind
tree_kind(PyObject *object)
{
	const struct known *class = class_of(object);

	return class != NULL ? class->kind : NODE_other;
}

/* Nodes still to visit, the next one last. */
struct stack {
	struct node *items;
	size_t count, room;
};

static int
push(struct stack *stack, PyObject *object, size_t parent)
{
	const struct known *class = class_of(object);

	/* Load(), Add() and similar carry nothing, and stand in several places; None is not a node.
	 */
	if (class == NULL || (PyTuple_GET_SIZE(class->fields) == 0 && class->kind != NODE_Break))
		return 0;
	if (stack->count == stack->room) {
		size_t room = stack->room > 0 ? stack->room * 2 : 256;
		struct node *items = reallocarray(stack->items, room, sizeof *items);
		if (items == NULL)
			return -1;
		stack->items = items;
		stack->room = room;
	}
	stack->items[stack->count++] = (struct node){ object, (uint32_t)parent, class->kind };
	return 0;
}

/* The value is borrowed: the tree holds it, and does not change while it is read. */
static int
push_value(struct stack *stack, PyObject *value, size_t parent)
{
	int status = 0;

	if (!PyList_Check(value))
		return push(stack, value, parent);
	for (Py_ssize_t n = 0; n < PyList_GET_SIZE(value) && status == 0; n++)
		status = push(stack, PyList_GET_ITEM(value, n), parent);
	return status;
}

static int
push_children(struct stack *stack, PyObject *ast, size_t index)
{
	PyObject *fields = class_of(ast)->fields;
	size_t first = stack->count;

	for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(fields); n++) {
		PyObject *value = PyObject_GetAttr(ast, PyTuple_GET_ITEM(fields, n));
		if (value == NULL) {
			PyErr_Clear();
			continue;
		}
		int status = push_value(stack, value, index);
		Py_DECREF(value);
		if (status != 0)
			return -1;
	}
	for (size_t low = first, high = stack->count; low + 1 < high; low++) {
		struct node other = stack->items[--high];
		stack->items[high] = stack->items[low];
		stack->items[low] = other;
	}
	return 0;
}

static int
append(struct tree *tree, size_t *room, const struct node *node)
{
	if (tree->count == *room) {
		size_t more = *room > 0 ? *room * 2 : 256;
		struct node *nodes = reallocarray(tree->nodes, more, sizeof *nodes);
		if (nodes == NULL)
			return -1;
		tree->nodes = nodes;
		*room = more;
	}
	tree->nodes[tree->count++] = *node;
	return 0;
}

int
tree_open(struct tree *tree, PyObject *root, struct err *e)
{
	struct stack stack = { 0 };
	size_t room = 0;

	*tree = (struct tree){ .root = root };
	int status = push(&stack, root, 0);
	while (status == 0 && stack.count > 0) {
		struct node node = stack.items[--stack.count];
		status = append(tree, &room, &node);
		if (status == 0)
			status = push_children(&stack, node.ast, tree->count - 1);
	}
	free(stack.items);
	if (status == 0)
		return 0;
	tree_close(tree);
	return err_set(
	    e, ERR_limit_exceeded, "code: no memory left for its syntax tree; split it up");
}

void
tree_close(struct tree *tree)
{
	Py_CLEAR(tree->root);
	free(tree->nodes);
	*tree = (struct tree){ 0 };
}

PyObject *
tree_get(PyObject *ast, enum node_attr attr)
{
	PyObject *value = PyObject_GetAttr(ast, attr_names[attr]);

	if (value == NULL)
		PyErr_Clear();
	Py_XDECREF(value); /* the tree holds a reference too */
	return value != Py_None ? value : NULL;
}

const char *
tree_string(PyObject *object)
{
	const char *text =
	    object != NULL && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;

	if (text == NULL)
		PyErr_Clear(); /* lone surrogates */
	return text;
}

const char *
tree_text(PyObject *ast, enum node_attr attr)
{
	return tree_string(tree_get(ast, attr));
}

uint64_t
tree_number(PyObject *ast, enum node_attr attr)
{
	PyObject *value = tree_get(ast, attr);
	long number = value != NULL && PyLong_Check(value) ? PyLong_AsLong(value) : 0;

	return number > 0 ? (uint64_t)number : 0;
}

size_t
tree_length(PyObject *ast, enum node_attr attr)
{
	PyObject *value = tree_get(ast, attr);

	return value != NULL && PyList_Check(value) ? (size_t)PyList_GET_SIZE(value) : 0;
}
