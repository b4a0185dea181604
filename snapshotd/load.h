/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - builds the catalog from the disk at the start. */
#pragma once

#include "common/base/err.h"

/* Opens the store below that directory.  Sets broken manifests aside and logs them. */
int load_store(int state, struct err *);
