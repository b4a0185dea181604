/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - status messages of the daemons, in the protocol of sd_notify(3). */
#pragma once

#include "common/base/err.h"

/* Binds <run>/supervisor.notify and sets NOTIFY_SOCKET for later children. */
int notify_open(struct err *);
void notify_close(void);
