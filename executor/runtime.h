/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the table of languages: those of runtimes.def, then the operator's own from the
 * setting `runtimes`.  A language is its index in this table; enum language names the first ones.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct runtime_row {
	const char *name;        /* the name that calls use */
	const char *program;     /* its path */
	const char *const *argv; /* ends with NULL; includes the path of the driver */
	const char *extension;   /* of the file that holds the code; NULL: there is a driver */
	bool driver;             /* speaks guest/protocol.h, so it can serve a session */
	bool present;            /* its program is installed on this host */
};

/* Call once, in open(), after the settings were read.  invalid_argument names the wrong part. */
int runtime_open(struct err *);
size_t runtime_count(void);
const struct runtime_row *runtime_at(size_t);
/* The index of a language; built-in languages have aliases.  -1: invalid_argument lists all
 * languages, runtime_missing: its program is not installed. */
int runtime_find(const char *asked, struct err *);
/* Is it a name of TypeScript, which is a manner of Node (run/typescript.h)?  NULL is none. */
bool runtime_is_typed(const char *asked);
/* Its name, which is TypeScript's if `typed`. */
const char *runtime_name(size_t number, bool typed);
