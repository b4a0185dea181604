/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - the socket of an operator's terminal: <run>/approve.sock.
 *
 * One packet is an approval_order, flattened (wire.h).  The reply is one packet: a zero byte and an
 * approval_list, or a one and a failure.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

/* Before the jail. */
int operator_open(struct err *);
/* In the jail, with the loop. */
int operator_start(struct err *);
void operator_stop(void);
