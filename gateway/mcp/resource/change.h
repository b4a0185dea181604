/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - maps the changes that an executor reports to the resources that clients listen for. */
#pragma once

#include "common/table/schema.h"

/* Notifies the clients that listen. */
void change_tell(const struct changed *);
