/* SPDX-License-Identifier: Apache-2.0 */
/* install_ask.h - what an installation is asked for. */
#pragma once

#include "executor/event.h"
#include "executor/packages/package_set.h"

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
