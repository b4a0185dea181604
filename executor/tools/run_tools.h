/* SPDX-License-Identifier: Apache-2.0 */
/* run_tools.h - handlers of the calls that run code. */
#pragma once

#include "common/bus/bus.h"

int run_tools_on_execute_code(struct call *, void *request, struct err *);
int run_tools_on_run_sandbox_code(struct call *, void *request, struct err *);
int run_tools_on_sandbox_run_python(struct call *, void *request, struct err *);
