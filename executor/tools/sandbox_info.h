/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_info.h - what this sandbox is and gives, in one answer. */
#pragma once

#include "common/bus/bus.h"

int sandbox_info_on_get_sandbox_info(struct call *, void *request, struct err *);
