/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the languages that can be run: those of runtimes.def, and behind them the operator's
 * own, of the setting `runtimes`.  A language is its number here; enum language names the first
 * ones.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct runtime_row {
	const char *name;        /* as calls name it */
	const char *program;     /* its path */
	const char *const *argv; /* NULL at the end; a driver's own is in it */
	const char *extension;   /* of the file that code is put into; NULL: there is a driver */
	bool driver;             /* speaks guest/protocol.h; so it can hold a session */
	bool present;            /* its program is on this host */
};

/* Once, in open(), after the settings were read; invalid_argument names what is wrong in them. */
int runtime_open(struct err *);
size_t runtime_count(void);
const struct runtime_row *runtime_at(size_t);
/* Its number, of ours by other usual names, too; -1 with *e that names all there are
 * (invalid_argument), or says that this host has no program for it (runtime_missing). */
int runtime_find(const char *asked, struct err *);
