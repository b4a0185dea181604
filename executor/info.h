/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - what there is: languages, limits, load. */
#pragma once

#include "common/bus.h"

/* In open(), outside the jail: asks each language's program for its version. */
int info_open(struct err *);
/* Can it be run here?  runtime_missing names the field and what can. */
int info_check_language(enum language, struct err *);
/* Its path; NULL: not of this build. */
const char *info_program(enum language);
/* Before the jail: what a program prints, up to size - 1 bytes of it; more than nothing. */
int info_ask(const char *const argv[], char *text, size_t size, struct err *);
/* Adds the languages that there are to a LIST(runtime); only < 0: all. */
int info_runtimes(void *list, int only, struct err *);
/* Of a run that asks for nothing, of malloc; NULL with ENOMEM. */
struct limit_info *info_limits(void);

int info_on_list_runtimes(struct call *, void *request, struct err *);
int info_on_sandbox_stats(struct call *, void *request, struct err *);
