/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inquiry.h - what the interpreters of the languages and of the environments say about themselves.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stddef.h>

/* Lines of an answer.  Only Python has more than a version. */
enum inquiry_line {
	INQUIRY_VERSION,
	INQUIRY_AHEAD,   /* modules of the setting preimport that are installed, with versions */
	INQUIRY_SCIENCE, /* the same of preimport_data_science */
	INQUIRY_MODULES, /* installed ones outside the standard library */
};

/* In open(), after runtime_open() and environment_open(); takes some seconds at most. */
void inquiry_open(void);
/* A line, whose words end with a space or the line; "": it did not answer. */
const char *inquiry_of_runtime(size_t number, enum inquiry_line);
const char *inquiry_of_environment(size_t number, bool modules);
/* The minor version of the environment's Python, as 11; 0: it did not answer. */
unsigned inquiry_minor(size_t number);
/* Appends the words of a line. */
int inquiry_words(const char *line, struct texts *to, struct err *);
