/* SPDX-License-Identifier: Apache-2.0 */
/* resolver.h - asks the operator's DNS server for the addresses of a name. */
#pragma once

#include "executor/egress/address.h"

#include <stddef.h>

enum {
	RESOLVER_ADDRESSES = 8,
};

struct resolution;

/* Before the jail: reads the setting, or /etc/resolv.conf, and /etc/hosts. */
int resolver_open(const char *setting, struct err *);
/* done: exactly once, never from within this call.  n 0: the name has no address.  NULL: no
 * memory or no socket. */
struct resolution *resolver_ask(
    const char *name, void (*done)(void *self, const union address *, size_t n), void *self);
/* done is not called any more. */
void resolver_cancel(struct resolution *);
