/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - auditd's own events. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/* Adds one to the journal, with this time; detail may be NULL. */
int own_add(enum event, const char *detail, uint64_t time_ms, struct err *);
