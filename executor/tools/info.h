/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - what there is: languages, limits, load. */
#pragma once

#include "common/bus/bus.h"

/* In open(), outside the jail: asks each language's program for its version. */
int info_open(struct err *);
/* Names of modules that Python can import and that are not its own, a blank between them; up to a
 * line feed or the end. */
const char *info_modules(void);
/* Adds the languages that there are to a LIST(runtime); only < 0: all. */
int info_runtimes(void *list, int only, struct err *);
/* Of a run that asks for nothing, of malloc; NULL with ENOMEM. */
struct limit_info *info_limits(void);

int info_on_list_runtimes(struct call *, void *request, struct err *);
int info_on_sandbox_stats(struct call *, void *request, struct err *);
