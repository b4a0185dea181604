/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install.h - adds packages of the operator's index to a set.
 *
 * The set that comes out is whole, and nobody has seen it yet: the caller shows it to programs
 * (session_show(), sandbox_mount()), or drops it.
 */
#pragma once

#include "executor/packages/install_ask.h"

struct install;

/* invalid_argument names the field; denied: the operator does not allow packages; queue_full. */
struct install *install_begin(const struct install_ask *, struct err *);
/* It stops soon; done is still called. */
void install_cancel(struct install *);
