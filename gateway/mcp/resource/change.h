/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - from what an executor says has changed to the resources that clients listen for. */
#pragma once

#include "common/table/schema.h"

/* Tells the clients that listen. */
void change_tell(const struct changed *);
