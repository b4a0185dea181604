/* SPDX-License-Identifier: Apache-2.0 */
/* content.h - calls on contents: list missing ones, put one, get one. */
#pragma once

#include "common/bus/bus.h"
#include "snapshotd/shelf.h"

int content_on_offer(struct call *, void *request, struct err *);
int content_on_put(struct call *, void *request, struct err *);
int content_on_get(struct call *, void *request, struct err *);

/* The settings; the disk keeps free_bytes for other uses. */
/* Fails with denied if the call has no principal: everything has an owner. */
int content_check_principal(const struct call *, struct err *);
