/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install.h - adds packages of the operator's index to a set.
 *
 * The set that comes out is whole, and nobody has seen it yet: the caller shows it to programs
 * (session_show(), sandbox_mount()), or drops it.
 */
#pragma once

#include "executor/event.h"
#include "executor/packages/package_set.h"

struct install;

struct install_ask {
	unsigned language;              /* python or node */
	const struct texts *packages;   /* names with versions, in the language's form; borrowed */
	bool unusual;                   /* names that look like misspellings, too */
	bool build;                     /* from source, if there is no wheel */
	uint64_t environment;           /* of their programs */
	const struct package_set *from; /* what is there already; NULL: nothing */
	struct event_owner owner;       /* these live until done */
	const char *session_id;         /* for events; NULL: none */
	void (*progress)(void *self, const char *text);
	/* Exactly once, never before install_begin() returns.  set NULL: *e says why.  The receiver
	 * owns the set, and may take the list, which says what was added. */
	void (*done)(void *self, struct package_set *set, struct packages_installed *list,
	    const struct err *e);
	void *self;
};

/* invalid_argument names the field; denied: the operator does not allow packages; queue_full. */
struct install *install_begin(const struct install_ask *, struct err *);
/* It stops soon; done is still called. */
void install_cancel(struct install *);
