/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_info.h - handler that describes the sandbox in one reply. */
#pragma once

#include "common/bus/bus.h"

int sandbox_info_on_get_sandbox_info(struct call *, void *request, struct err *);
