/* SPDX-License-Identifier: Apache-2.0 */
/* check_tools.h - the handler of validate_code, for languages that a box checks. */
#pragma once

#include "common/bus/bus.h"

int check_tools_on_validate_code(struct call *, void *request, struct err *);
