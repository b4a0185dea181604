/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - handlers that report languages, limits and load. */
#pragma once

#include "common/bus/bus.h"

/* Appends the installed languages to a LIST(runtime); only < 0: all. */
int info_runtimes(void *list, int only, struct err *);
/* The limits of a run that requests no others, allocated with malloc; NULL with ENOMEM. */
struct limit_info *info_limits(void);

int info_on_list_runtimes(struct call *, void *request, struct err *);
int info_on_sandbox_stats(struct call *, void *request, struct err *);
