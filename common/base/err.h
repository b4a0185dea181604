/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - why something failed: a code for programs, a sentence for people. */
#pragma once

#include "common/base/must.h"

enum err_code {
	ERR_none,
#define ERR(code, remedy) ERR_##code,
#include "common/table/err.def"
	ERR_COUNT
};

struct err {
	enum err_code code;
	int sys;        /* errno at the time, or 0 */
	int retry_ms;   /* milliseconds to wait before a retry, or 0; only with queue_full and
	                   rate_limited */
	char text[240]; /* no allocation: also used between clone and exec */
};

#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Each fills in *e and returns -1. err_sys appends strerror(errno); err_add prepends context. */
int err_set(struct err *e, enum err_code, const char *fmt, ...) PRINTF(3, 4);
int err_sys(struct err *e, const char *fmt, ...) PRINTF(2, 3);
int err_add(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* The name of a code ("queue_full"), its remedy, and the code of a name; an unknown name is
 * ERR_internal. */
const char *err_name(enum err_code);
const char *err_remedy(enum err_code);
enum err_code err_parse(const char *name);

/* For an errno that reports an exhausted system resource: "; " and the operator's remedy. "" for
 * any other errno. */
const char *err_shortage(int sys);
