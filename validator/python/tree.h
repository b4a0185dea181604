/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - a parsed program as an array of nodes, parents before children, in the order of the
 * text. */
#pragma once

#include <Python.h>

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum node_kind {
	NODE_other,
#define NODE(class, binds, decisions) NODE_##class,
#include "validator/python/ast.def"
	NODE_COUNT
};

enum node_attr {
	ATTR_none,
#define ATTR(name) ATTR_##name,
#include "validator/python/ast.def"
	ATTR_COUNT
};

struct node {
	PyObject *ast;   /* the tree's */
	uint32_t parent; /* index; the root is its own */
	enum node_kind kind;
};

struct tree {
	PyObject *root;
	struct node *nodes;
	size_t count;
};

/* Once, before the jail: which classes the AST of this Python has. */
int tree_prepare(struct err *);
/* Takes root, also where it fails. */
int tree_open(struct tree *, PyObject *root, struct err *);
void tree_close(struct tree *);

/* The kind of an object, NODE_other for what is not looked at. */
enum node_kind tree_kind(PyObject *);
/* An attribute, borrowed from the tree; NULL where absent or None. */
PyObject *tree_get(PyObject *ast, enum node_attr);
/* The same as text, which lives as long as the tree; NULL where it is none, or cannot be UTF-8. */
const char *tree_text(PyObject *ast, enum node_attr);
/* The same as a number, 0 where it is none. */
uint64_t tree_number(PyObject *ast, enum node_attr);
/* How many items a list has, 0 where it is none. */
size_t tree_length(PyObject *ast, enum node_attr);
/* UTF-8 of a str that lives as long as it; NULL where it is none. */
const char *tree_string(PyObject *);
