/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the shelves as the disk shows them, at the start. */
#pragma once

#include "common/base/err.h"

/* Opens the store below that folder.  What is broken is set aside and logged. */
int load_store(int state, struct err *);
