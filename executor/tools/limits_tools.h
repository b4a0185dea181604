/* SPDX-License-Identifier: Apache-2.0 */
/* limits_tools.h - the call that sets limits of later runs. */
#pragma once

#include "common/bus/bus.h"

int limits_tools_on_set_resource_limits(struct call *, void *request, struct err *);
