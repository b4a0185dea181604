/* SPDX-License-Identifier: Apache-2.0 */
/* containers.h - numbers of the supported container runtimes.  0 means none. */
#pragma once

/* clang-format off */
enum container {
	CONTAINER_none,
#define CONTAINER(name, ...) CONTAINER_##name,
#include "executor/builder/containers.def"
	CONTAINER_COUNT
};
/* clang-format on */
