/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - the OCI runtimes of this host, and which calls use one. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

/* In open(), after the settings were read: looks for the runtimes and checks the settings. */
int container_open(struct err *);
/* Appends the builder's arguments for the installed runtimes. */
int container_arguments(struct texts *, struct err *);
/* Does every call run in a container? */
bool container_enabled(void);
/* Is any runtime installed? */
bool container_available(void);
/* The runtime that use_container=true selects; isolation_unavailable. */
int container_choose(uint64_t *container, struct err *);
