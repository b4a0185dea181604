/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_info.h - what this sandbox is and gives, in one answer. */
#pragma once

#include "common/bus.h"

/* In open(), outside the jail: asks Python which modules there are beside its own. */
int sandbox_info_open(struct err *);

int sandbox_info_on_get_sandbox_info(struct call *, void *request, struct err *);
