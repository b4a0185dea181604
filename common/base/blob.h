/* SPDX-License-Identifier: Apache-2.0 */
/* blob.h - bytes with their size. */
#pragma once

#include <stddef.h>

struct blob {
	void *data; /* from malloc; NULL if absent */
	size_t size;
};
