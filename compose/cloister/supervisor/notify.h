/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - what the daemons say of themselves, in the protocol of sd_notify(3). */
#pragma once

#include "common/base/err.h"

/* Binds <run>/supervisor.notify and puts it into the environment of children to come. */
int notify_open(struct err *);
void notify_close(void);
