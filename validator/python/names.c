/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - names without scopes: a name that is bound once counts as bound everywhere.
 *
 * This suffices for its two uses: whether an import is missing (a name bound in any scope is left
 * alone), and what a name was imported from.  Trusts nothing; the names come from a program.
 */
#include "validator/python/names.h"

#include "validator/python/interp.h"
#include "validator/python/members.h"

#include "common/base/auto.h"

static const enum node_attr binds[NODE_COUNT] = {
#define NODE(class, binds, decisions) [NODE_##class] = ATTR_##binds,
#include "validator/python/ast.def"
};

static int
bind(struct names *names, PyObject *name)
{
	return name != NULL && PyUnicode_Check(name) ? PySet_Add(names->bound, name) : 0;
}

/* An earlier import bound the name to something else, and one of the two is a module. */
static int
mix(struct names *names, PyObject *name, PyObject *module, bool whole)
{
	PyObject *before = PyDict_GetItemWithError(names->modules, name);

	if (before != NULL && PyUnicode_Compare(before, module) != 0 &&
	    (whole || PySet_Contains(names->whole, name) == 1) &&
	    PySet_Add(names->mixed, name) != 0)
		return -1;
	return whole ? PySet_Add(names->whole, name) : 0;
}

/* Takes both references. whole: the import statement binds a module. */
static int
bind_module(struct names *names, PyObject *name, PyObject *module, bool whole)
{
	const char *dotted = module != NULL ? tree_string(module) : NULL;
	int status = name == NULL || dotted == NULL || bind(names, name) != 0 ||
	                     mix(names, name, module, whole || members_module(dotted)) != 0 ||
	                     PyDict_SetItem(names->modules, name, module) != 0
	                 ? -1
	                 : 0;

	Py_XDECREF(name);
	Py_XDECREF(module);
	return status;
}

/* `import a.b` binds a; `import a.b as c` binds c to a.b. */
static int
on_import(struct names *names, PyObject *alias)
{
	PyObject *dotted = tree_get(alias, ATTR_name), *as = tree_get(alias, ATTR_asname);

	if (dotted == NULL)
		return 0;
	if (as != NULL)
		return bind_module(names, Py_NewRef(as), Py_NewRef(dotted), true);
	Py_ssize_t size = PyUnicode_GET_LENGTH(dotted);
	Py_ssize_t dot = PyUnicode_FindChar(dotted, '.', 0, size, 1);
	PyObject *root = PyUnicode_Substring(dotted, 0, dot >= 0 ? dot : size);
	if (root == NULL || (dot >= 0 && PySet_Add(names->partial, root) != 0)) {
		Py_XDECREF(root);
		return -1;
	}
	return bind_module(names, root, Py_NewRef(root), true);
}

/* `from a import b` binds b, which may be the module a.b. */
static int
on_import_from(struct names *names, PyObject *from, PyObject *alias)
{
	PyObject *name = tree_get(alias, ATTR_name), *as = tree_get(alias, ATTR_asname);
	PyObject *module = tree_get(from, ATTR_module);

	if (name == NULL)
		return 0;
	if (PyUnicode_CompareWithASCIIString(name, "*") == 0) {
		names->star = true;
		return 0;
	}
	if (module == NULL)
		return bind(names, as != NULL ? as : name);
	return bind_module(names, Py_NewRef(as != NULL ? as : name),
	    PyUnicode_FromFormat("%U.%U", module, name), false);
}

static int
on_name(struct names *names, PyObject *ast, size_t index)
{
	PyObject *name = tree_get(ast, ATTR_id);
	PyObject *context = tree_get(ast, ATTR_ctx);

	if (name == NULL || context == NULL)
		return 0;
	/* Stored, or deleted; a deletion needs a bound name. */
	if (tree_kind(context) != NODE_Load)
		return bind(names, name);
	PyObject *at = PyLong_FromSize_t(index);
	int status = at != NULL && PyDict_SetDefault(names->used, name, at) != NULL ? 0 : -1;
	Py_XDECREF(at);
	return status;
}

static int
on_global(struct names *names, PyObject *ast)
{
	PyObject *list = tree_get(ast, ATTR_names);
	int status = 0;

	for (size_t n = 0; n < tree_length(ast, ATTR_names) && status == 0; n++)
		status = bind(names, PyList_GET_ITEM(list, (Py_ssize_t)n));
	return status;
}

/* Of a name that is stored: is it by `name = "text"`? */
static bool
stores_text(PyObject *parent)
{
	PyObject *value = tree_kind(parent) == NODE_Assign ? tree_get(parent, ATTR_value) : NULL;

	return value != NULL && tree_kind(value) == NODE_Constant &&
	       tree_text(value, ATTR_value) != NULL;
}

static int
vary(struct names *names, PyObject *name)
{
	return name != NULL && PyUnicode_Check(name) ? PySet_Add(names->varied, name) : 0;
}

static int
note_class(struct names *names, PyObject *ast)
{
	PyObject *name = tree_get(ast, ATTR_name);

	if (name == NULL || PyDict_Contains(names->classes, name) != 0)
		return vary(names, name);
	return PyDict_SetItem(names->classes, name, ast);
}

/* What a name is bound to. */
static int
note_binding(struct names *names, const struct node *node, PyObject *parent)
{
	PyObject *as, *context;

	switch (node->kind) {
	case NODE_Name:
		context = tree_get(node->ast, ATTR_ctx);
		return context == NULL || tree_kind(context) == NODE_Load || stores_text(parent)
		           ? 0
		           : vary(names, tree_get(node->ast, ATTR_id));
	case NODE_ClassDef:
		return note_class(names, node->ast);
	case NODE_FunctionDef:
	case NODE_AsyncFunctionDef:
		return PySet_Add(names->functions, tree_get(node->ast, ATTR_name));
	case NODE_alias:
		as = tree_get(node->ast, ATTR_asname);
		return vary(names, as != NULL ? as : tree_get(node->ast, ATTR_name));
	default:
		return binds[node->kind] != ATTR_none
		           ? vary(names, tree_get(node->ast, binds[node->kind]))
		           : 0;
	}
}

static int
note(struct names *names, const struct tree *tree, size_t index)
{
	const struct node *node = &tree->nodes[index], *parent = &tree->nodes[node->parent];

	if (note_binding(names, node, parent->ast) != 0)
		return -1;
	switch (node->kind) {
	case NODE_Name:
		return on_name(names, node->ast, index);
	case NODE_Global:
		return on_global(names, node->ast);
	case NODE_alias:
		return parent->kind == NODE_Import ? on_import(names, node->ast)
		                                   : on_import_from(names, parent->ast, node->ast);
	default:
		return binds[node->kind] != ATTR_none
		           ? bind(names, tree_get(node->ast, binds[node->kind]))
		           : 0;
	}
}

int
names_open(struct names *names, const struct tree *tree, struct err *e)
{
	*names = (struct names){
		.bound = PySet_New(NULL),
		.used = PyDict_New(),
		.modules = PyDict_New(),
		.partial = PySet_New(NULL),
		.whole = PySet_New(NULL),
		.mixed = PySet_New(NULL),
		.varied = PySet_New(NULL),
		.classes = PyDict_New(),
		.functions = PySet_New(NULL),
	};
	int status = names->bound != NULL && names->used != NULL && names->modules != NULL &&
	                     names->partial != NULL && names->whole != NULL &&
	                     names->mixed != NULL && names->varied != NULL &&
	                     names->classes != NULL && names->functions != NULL
	                 ? 0
	                 : -1;
	for (size_t n = 0; n < tree->count && status == 0; n++)
		status = note(names, tree, n);
	if (status == 0)
		return 0;
	PyErr_Clear();
	names_close(names);
	return err_set(e, ERR_limit_exceeded, "code: no memory left for its names; split it up");
}

void
names_close(struct names *names)
{
	PyObject *const owned[] = { names->bound, names->used, names->modules, names->partial,
		names->whole, names->mixed, names->varied, names->classes, names->functions };

	for (size_t n = 0; n < COUNT(owned); n++)
		Py_XDECREF(owned[n]);
	*names = (struct names){ 0 };
}

const char *
names_module(const struct names *names, PyObject *name)
{
	return tree_string(PyDict_GetItemWithError(names->modules, name));
}

bool
names_partial(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->partial, name) == 1;
}

bool
names_whole(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->whole, name) == 1;
}

bool
names_literal(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->bound, name) == 1 &&
	       PySet_Contains(names->varied, name) == 0 &&
	       PySet_Contains(names->functions, name) == 0 &&
	       PyDict_Contains(names->classes, name) == 0;
}

PyObject *
names_class(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->varied, name) == 0 &&
	               PySet_Contains(names->functions, name) == 0
	           ? PyDict_GetItemWithError(names->classes, name)
	           : NULL;
}

bool
names_function(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->functions, name) == 1 &&
	       PySet_Contains(names->varied, name) == 0 &&
	       PyDict_Contains(names->classes, name) == 0;
}

bool
names_mixed(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->mixed, name) == 1;
}

bool
names_bound(const struct names *names, PyObject *name)
{
	return PySet_Contains(names->bound, name) == 1;
}

bool
names_missing(const struct names *names, PyObject *name)
{
	return !names->star && PySet_Contains(names->bound, name) == 0 && !interp_builtin(name);
}
