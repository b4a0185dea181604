/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - full texts of truncated results, kept for a while so that any gateway can read them.
 *
 * A text is kept under the id that the gateway gave its client.  It is returned only to the
 * owner that it is kept for.  All texts together are limited by the setting
 * kept_bytes.  The oldest are dropped first; an owner that holds half of them loses its own.
 */
#pragma once

#include "common/bus/bus.h"

int output_on_keep_output(struct call *, void *request, struct err *);
int output_on_get_output(struct call *, void *request, struct err *);
