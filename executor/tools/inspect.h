/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - handler that reports the state of a session: variables, environment. */
#pragma once

#include "common/bus/bus.h"

int inspect_on_inspect_state(struct call *, void *request, struct err *);
