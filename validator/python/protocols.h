/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocols.h - rules for what reads attributes whose names are data: class patterns, format(),
 * classes made at run time, decorators that copy attributes.
 *
 * Each does nothing if the profile allows computed names.
 */
#pragma once

#include "validator/python/finding.h"

/* Of a Name or an Attribute that is imported. */
void protocols_import(struct check *, const struct node *, const char *dotted);
/* Of a name that nothing binds and of an attribute of an unknown object: an earlier statement of a
 * session may have imported it. */
void protocols_unknown(struct check *, const struct node *, const char *name);
/* Is it the last name of a row that protocols_import() restricts? */
bool protocols_restricts(const char *name);
/* Of `from module import name as alias`. */
void protocols_alias(struct check *, PyObject *alias, const char *dotted);
void protocols_name(struct check *, const struct node *, const char *name);
void protocols_attribute(struct check *, const struct node *, const char *attr);
void protocols_pattern(struct check *, const struct node *);
/* Of a def, class or keyword: the name that it defines. */
void protocols_definition(struct check *, const struct node *);
/* Is it `__match_args__ = ("a", "b")` with names that are allowed? */
bool protocols_match_args(const struct check *, const struct node *, const char *name);
