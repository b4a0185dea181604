/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logfile.h - the files of the log in auditd's directory: audit.log, which is open, and the closed
 * ones, audit-N.log; N is the number of the first record, in 20 digits.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOGFILE_OPEN "audit.log"

enum { LOGFILE_NAME = 40 };

/* An open file, the number of its first record, and its bytes. */
struct logfile {
	int fd;
	uint64_t first, size;
};

void logfile_name(uint64_t first, char name[LOGFILE_NAME]);
/* The first records of the closed files in a directory, in order, allocated by malloc. */
int logfile_list(int directory, uint64_t **firsts, size_t *count, struct err *);

/* Opens audit.log, makes it if there is none, and locks it.  What is in it is durable. */
int logfile_open(int state, struct err *);
/* -1: the open file has no name any more. */
int logfile_check_name(int fd, struct err *);
/* Makes and locks the empty file that will be audit.log. */
int logfile_next(int state, struct err *);
/*
 * Cuts audit.log to its size and closes it under its new name; the next file takes its place.
 * *renamed: it failed after that had begun, and only a restart knows the names.
 */
int logfile_rename(int state, const struct logfile *, bool *renamed, struct err *);
