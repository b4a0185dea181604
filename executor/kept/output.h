/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - whole texts that a result showed only a part of, for a while, for any gateway to read.
 *
 * A text is kept under the id that the gateway told its client, and is given to nobody but the
 * principal and namespace that it is kept for.  All texts together are bounded by the setting
 * kept_bytes; the oldest go first, and an owner of half of them loses texts of its own.
 */
#pragma once

#include "common/bus/bus.h"

int output_on_keep_output(struct call *, void *request, struct err *);
int output_on_get_output(struct call *, void *request, struct err *);
