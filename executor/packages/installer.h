/* SPDX-License-Identifier: Apache-2.0 */
/*
 * installer.h - a script of guest/packages/ in a box of its own.
 *
 * What a package's bytes or an index make of the script harms the box only: its network is that of
 * the named hosts, and what it leaves is a workspace that no process can write to any more.
 */
#pragma once

#include "executor/event.h"
#include "executor/sandbox/box.h"
#include "executor/sandbox/workspace.h"

struct installer;

struct installer_ask {
	const char *script;                  /* its name */
	const struct texts *arguments;       /* these live until done */
	const struct texts *domains;         /* that it may reach; NULL: no network */
	const struct box_mounts *mounts;     /* that it sees; NULL: none */
	const struct workspace_limits *room; /* NULL: as a run has by default, maybe a ready box */
	uint64_t environment;                /* whose Python runs it, if that does */
	struct event_owner owner;
	/* What it writes to stdout meanwhile; NULL: nobody looks. */
	void (*output)(void *self, const char *data, size_t size);
	/* Exactly once, never before installer_begin() returns, when its box has ended.  made: what
	 * it left in its workspace, which the receiver owns.  NULL: *e says why. */
	void (*done)(void *self, struct workspace *made, const struct err *e);
	void *self;
};

/* NULL with *e; then done is not called. */
struct installer *installer_begin(const struct installer_ask *, struct err *);
/* The script stops soon; done is still called. */
void installer_cancel(struct installer *);
