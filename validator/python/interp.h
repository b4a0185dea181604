/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h - the embedded CPython: it parses and compiles, and never runs the given code. */
#pragma once

#include <Python.h>

#include "common/base/err.h"
#include "validator/source.h"

/* Python's message on code that does not parse or compile. */
struct fault {
	uint64_t line, column; /* from 1; columns in characters */
	char text[256];
};

/* Before the jail, by the thread that will check: afterwards no file needs to be opened.  It lasts
 * for the life of the process. */
int interp_open(uint64_t memory_bytes, struct err *);

/* 0 with *tree, which the caller releases, or with NULL and *fault.  -1: the code is too deep or
 * too large. */
int interp_parse(const struct source *, PyObject **tree, struct fault *, struct err *);
/* Finds what only the compiler finds, like a return outside a function. fault->line 0: nothing. */
int interp_compile(const struct source *, struct fault *, struct err *);
/* Is it a built-in name of this Python? */
bool interp_builtin(PyObject *name);
