/* SPDX-License-Identifier: Apache-2.0 */
/* content.h - calls about contents: which are missing, take this one, give me that one. */
#pragma once

#include "common/bus/bus.h"
#include "snapshotd/shelf.h"

int content_on_offer(struct call *, void *request, struct err *);
int content_on_put(struct call *, void *request, struct err *);
int content_on_get(struct call *, void *request, struct err *);

/* Settings; the disk keeps free_bytes for others. */
/* denied where nobody asks: everything is somebody's. */
int content_check_principal(const struct call *, struct err *);
