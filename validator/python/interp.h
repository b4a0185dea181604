/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h - the embedded CPython: it parses and compiles, and never runs a line of what it is
 * given. */
#pragma once

#include <Python.h>

#include "common/base/err.h"
#include "validator/source.h"

/* What Python says of code that is not Python. */
struct fault {
	uint64_t line, column; /* from 1; in characters */
	char text[256];
};

/* Before the jail, by the thread that is to check: afterwards no file is opened that has to be
 * there.  For as long as the process lives. */
int interp_open(uint64_t memory_bytes, struct err *);

/* 0 with *tree, which is the caller's, or with NULL and *fault; -1: it is too deep or too large. */
int interp_parse(const struct source *, PyObject **tree, struct fault *, struct err *);
/* What only the compiler finds, as a return outside a function; fault->line 0: nothing. */
int interp_compile(const struct source *, struct fault *, struct err *);
/* Is it a built-in of this Python? */
bool interp_builtin(PyObject *name);
