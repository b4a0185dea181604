/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - the public members of the standard library's modules, as this build's Python has
 * them.
 *
 * The table is made by members.py. Modules of other packages are not in it.
 */
#pragma once

#include <stdbool.h>

/* Is the dotted name such a module? */
bool members_module(const char *dotted);
/* May code use it? dotted: the module and the name after its dot. */
bool members_public(const char *dotted);
/* The last part of the public name of the same module that differs least; NULL: none is near. */
const char *members_near(const char *dotted);
