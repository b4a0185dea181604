/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - the caller's own records, newest first. */
#pragma once

#include "common/bus/bus.h"

/* Handler of audit_execution. */
int query_execution(struct call *, void *request, struct err *);
