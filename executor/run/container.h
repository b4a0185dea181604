/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - the OCI runtimes of this host, and which calls go to one. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stdbool.h>
#include <stdint.h>

/* In open(), when the settings were read: looks for them; the settings' word is checked. */
int container_open(struct err *);
/* The builder's arguments for those that are there. */
int container_arguments(struct texts *, struct err *);
/* Does all run in one? */
bool container_enabled(void);
/* Is any there? */
bool container_available(void);
/* The one that use_container=true stands for; isolation_unavailable. */
int container_choose(uint64_t *container, struct err *);
