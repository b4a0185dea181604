/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the names that a program binds and uses, and which of them are modules. */
#pragma once

#include "validator/python/tree.h"

struct names {
	PyObject *bound;   /* set: bound in any scope */
	PyObject *used;    /* dict, in order of the text: name to the index of its first use */
	PyObject *modules; /* dict: bound name to the dotted name of its import */
	PyObject *partial; /* set: names bound by `import a.b`, which binds a */
	PyObject *whole;   /* set: names bound to modules */
	PyObject *mixed; /* set: names bound to a module and to something else that was imported */
	PyObject *
	    varied; /* set: names bound by anything but `name = "text"`, class and def statements */
	PyObject *classes;   /* dict: name to the class statement that binds it */
	PyObject *functions; /* set: names that a def statement binds */
	bool star;           /* a star import binds unknown names */
};

int names_open(struct names *, const struct tree *, struct err *);
void names_close(struct names *);

/* The dotted name that a bound name was imported from, borrowed; NULL if it was not imported. */
const char *names_module(const struct names *, PyObject *name);
bool names_partial(const struct names *, PyObject *name);
bool names_whole(const struct names *, PyObject *name);
/* Is it bound, and only to literal text? */
bool names_literal(const struct names *, PyObject *name);
/* The only class statement that binds it, borrowed; NULL: anything else does. */
PyObject *names_class(const struct names *, PyObject *name);
/* Do only def statements bind it? */
bool names_function(const struct names *, PyObject *name);
bool names_mixed(const struct names *, PyObject *name);
bool names_bound(const struct names *, PyObject *name);
/* Used, bound nowhere, and not a built-in. */
bool names_missing(const struct names *, PyObject *name);
