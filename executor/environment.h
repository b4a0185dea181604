/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.h - the environments of Python: the interpreter of the setting `python`, and named
 * ones below the directory of the setting `environments`, each a virtual environment (PEP 405), the
 * unpacked files of an image, or a link to one of these.
 *
 * The operator makes them (`cloister environment add`).  They are read once, at the start.
 */
#pragma once

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct environment {
	const char *name;
	const char *python; /* its interpreter as boxes see it, in a directory without links */
	const char *root;   /* of an image: the directory with its files; else NULL */
	unsigned minor;     /* of an image: of its Python 3 */
	const char *ahead;  /* modules that a prepared interpreter has imported, with commas */
};

/* In open(), after the settings were read.  state: the state directory, or NULL.  What is no
 * environment is logged and left out. */
void environment_open(const char *state);
/* The number is that of orders (builder/order.h); 0 is the default, which has always a name. */
size_t environment_count(void);
const struct environment *environment_at(size_t number);
/* Stores the number of a name, unless that is NULL; -1: invalid_argument lists the names. */
int environment_ask(const char *name, uint64_t *number, struct err *);
/* Fails for an environment that was made of an image.  what: the argument that it does not go with.
 */
int environment_needs_host(uint64_t number, const char *what, struct err *);
