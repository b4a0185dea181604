/* SPDX-License-Identifier: Apache-2.0 */
/* content.h - calls on contents: list missing ones, put one, get one. */
#pragma once

#include "common/bus/bus.h"
#include "snapshotd/catalog.h"

int content_on_offer(struct call *, void *request, struct err *);
int content_on_put(struct call *, void *request, struct err *);
int content_on_get(struct call *, void *request, struct err *);

/* Fails with limit_exceeded if the disk has no room for that many bytes: it keeps keep_free_bytes
 * for other uses. */
int content_check_disk(uint64_t size, struct err *);
/* Fails with denied if the call has no principal: everything has an owner. */
int content_check_principal(const struct call *, struct err *);
