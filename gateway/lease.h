/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h - the gateway's lease on the daemons, which `cloister serve` renews. */
#pragma once

#include "common/base/err.h"

/* Before the jail. */
int lease_open(struct err *);
int lease_start(struct err *);
/* A call needs the daemons: if they have stopped, they are started again. */
void lease_want(void);
