/* SPDX-License-Identifier: Apache-2.0 */
/* table_tools.h - the handler of validate_csv_data, for files that the validator cannot take. */
#pragma once

#include "common/bus/bus.h"

int table_tools_on_validate_csv_data(struct call *, void *request, struct err *);
