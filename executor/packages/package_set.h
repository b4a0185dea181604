/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_set.h - the packages of a session, and the tree of links through which programs see them.
 *
 * A set never changes.  An installation makes a new one, and the session changes over to it when
 * it is whole; so the packages of a session are those before or those after an installation.
 */
#pragma once

#include "executor/builder/order.h"
#include "executor/packages/package.h"

struct package_set {
	size_t refs;
	struct package *packages[ORDER_MAX_PACKAGES]; /* by place; NULL: none is there */
	struct workspace *view;  /* what is mounted on /usr/local; NULL: not made yet */
	struct package *modules; /* what is mounted on /node_modules; NULL: nothing */
	struct texts specs;      /* what was asked of npm for it */
	struct box_mount mounts[ORDER_PLACES]; /* package_set.c's own */
	struct box_mounts all;
};

/* With the packages of another one, at the same places; from may be NULL.  NULL: no memory. */
struct package_set *package_set_new(const struct package_set *from);
struct package_set *package_set_get(struct package_set *);
/* NULL is allowed. */
void package_set_put(struct package_set *);
/* The package of that name, which stays the set's; NULL: none. */
struct package *package_set_find(const struct package_set *, const char *name);
/* Takes the caller's use of the package; one of the same name is replaced.  limit_exceeded. */
int package_set_add(struct package_set *, struct package *, struct err *);
/* The mounts of its packages and, if there is one, of the view; valid as long as the set. */
const struct box_mounts *package_set_mounts(struct package_set *);
