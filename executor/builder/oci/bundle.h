/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h - the directory that a container runtime is given. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

#include <stddef.h>

#define BUNDLE_SANDBOX "/run" /* in the runtime's own mount namespace: all that it writes */
#define BUNDLE         BUNDLE_SANDBOX "/bundle"
#define BUNDLE_STATE   BUNDLE_SANDBOX "/state"
#define BUNDLE_LOG     BUNDLE_SANDBOX "/log"
#define BUNDLE_INIT    "/cloister/init" /* container_init.c, in the root of every box */

struct bundle {
	const struct host *host;
	const struct order *order; /* the box's */
	int control;               /* the program's, as containers.def has it */
	const char *extension;     /* of a runtime without a driver; else NULL */
	const char *const *argv;
};

/*
 * In a mount namespace that is the calling process's alone, a copy of a box's: what a runtime wants
 * of a host (a whole /proc, a /run, cgroups to look at), and the bundle.
 */
int bundle_make(const struct bundle *, struct err *);
