/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h - what a session is like from inside. */
#pragma once

#include "common/bus/bus.h"

int inspect_on_inspect_state(struct call *, void *request, struct err *);
