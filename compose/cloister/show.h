/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - prints the result of a tool for a person. */
#pragma once

#include <jansson.h>

/*
 * Prints a value: "name: value" lines, tables for lists of objects. what: "member:column,column",
 * as in commands.def, or NULL for all of it. Control characters are replaced, because programs in
 * boxes choose many of the texts.
 */
void show_value(const json_t *value, const char *what);
/* Prints "cloister: code: message" and the hint to stderr. */
void show_problem(const json_t *problem);
/* Says on stderr which records of the audit log a page passed over, because they were removed. */
void show_removed(const json_t *page);
