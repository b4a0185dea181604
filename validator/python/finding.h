/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h - what the rules of a check share. */
#pragma once

#include "validator/python/program.h"

struct check {
	const struct program *program;
	struct report *report;
};

/* Where a node starts. */
uint64_t rules_line(PyObject *ast);
uint64_t rules_column(const struct check *, PyObject *ast);

#define FOUND(check, rule, ast, hint, ...) \
	report_finding( \
	    (check)->report, rule, rules_line(ast), rules_column(check, ast), hint, __VA_ARGS__)

bool rules_may(const struct check *, enum power);
bool rules_dunder(const char *name);
/* May code read or write an attribute of this name? */
bool rules_attribute(const struct check *, const char *name);
/* The dotted name of a name or a.b.c that was imported; false: it was not. */
enum { RULES_DOTTED = 512 };
bool rules_module_of(const struct check *, PyObject *ast, char dotted[RULES_DOTTED]);
/* May code use or define this dunder name? id: the same. */
bool rules_dunder_name(const struct check *, PyObject *id, const char *name);
