/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - audit events of approvals. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

/* Records the event of the record's kind that its state calls for.  unavailable: it is not
 * recorded, and what it announces must not be done. */
int report(const struct approval *, struct err *);
