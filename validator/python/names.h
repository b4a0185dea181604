/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - which names a program binds, which it uses, and which of them are modules. */
#pragma once

#include "validator/python/tree.h"

struct names {
	PyObject *bound;   /* set: bound anywhere, in whatever scope */
	PyObject *used;    /* dict, in the order of the text: name to the index of its first use */
	PyObject *modules; /* dict: bound name to the dotted name it was imported from */
	PyObject *partial; /* set: names bound by `import a.b`, which gives a */
	bool star;         /* a star import binds what nobody knows here */
};

int names_open(struct names *, const struct tree *, struct err *);
void names_close(struct names *);

/* The dotted name that a bound name was imported from, borrowed; NULL where it was not. */
const char *names_module(const struct names *, PyObject *name);
bool names_partial(const struct names *, PyObject *name);
/* Used, and bound nowhere, and no built-in. */
bool names_missing(const struct names *, PyObject *name);
