/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - a parsed program as an array of nodes in order of the text, parents before children. */
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
	PyObject *ast;   /* borrowed from the tree */
	uint32_t parent; /* index; the root is its own parent */
	enum node_kind kind;
};

struct tree {
	PyObject *root;
	struct node *nodes;
	size_t count;
};

/* Once, before the jail: looks up the AST classes of this Python. */
int tree_prepare(struct err *);
/* Takes root, also on failure. */
int tree_open(struct tree *, PyObject *root, struct err *);
void tree_close(struct tree *);

/* The kind of an object; NODE_other for classes without a row. */
enum node_kind tree_kind(PyObject *);
/* An attribute, borrowed from the tree; NULL if absent or None. */
PyObject *tree_get(PyObject *ast, enum node_attr);
/* The attribute as text that lives as long as the tree; NULL if it is not a str, or not UTF-8. */
const char *tree_text(PyObject *ast, enum node_attr);
/* The attribute as a number; 0 if it is not one. */
uint64_t tree_number(PyObject *ast, enum node_attr);
/* The number of items of a list; 0 if it is not a list. */
size_t tree_length(PyObject *ast, enum node_attr);
/* The UTF-8 of a str, valid as long as the str; NULL if it is not one. */
const char *tree_string(PyObject *);
