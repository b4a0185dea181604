/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - what there is: languages, limits, load. */
#pragma once

#include "common/bus.h"

/* In open(), outside the jail: asks each language's program for its version. */
int info_open(struct err *);

int info_on_list_runtimes(struct call *, void *request, struct err *);
int info_on_sandbox_stats(struct call *, void *request, struct err *);
