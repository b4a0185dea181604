/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - the bundle directory that is passed to a container runtime. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

#include <stddef.h>

#define BUNDLE_SANDBOX "/run" /* everything the runtime writes, in its mount namespace */
#define BUNDLE         BUNDLE_SANDBOX "/bundle"
#define BUNDLE_STATE   BUNDLE_SANDBOX "/state"
#define BUNDLE_LOG     BUNDLE_SANDBOX "/log"
#define BUNDLE_INIT    "/cloister/init" /* container_init.c, in the root of every box */

struct bundle {
	const struct host *host;
	const struct order *order; /* the box's */
	int control;               /* the program's control descriptor, as in containers.def */
	const char *extension;     /* of a runtime without a driver; otherwise NULL */
	const char *const *argv;
	const char *variable; /* a pair of its environment, or NULL */
};

/*
 * Makes the bundle, and what a runtime expects of a host: a complete /proc, a /run, and visible
 * cgroups.  The calling process must be alone in its mount namespace, which is a copy of a box's.
 */
int bundle_make(const struct bundle *, struct err *);
