/* SPDX-License-Identifier: Apache-2.0 */
/* install_inner.h - an installation, shared by install.c, which begins and ends it, and the files
 * of the languages, wheels.c and modules.c; for no other file. */
#pragma once

#include "executor/files/files.h"
#include "executor/packages/install_ask.h"
#include "executor/packages/installer.h"
#include "executor/sandbox/workspace.h"

struct install {
	struct install_ask ask;
	struct texts wanted;         /* requirements */
	struct texts arguments;      /* of the script that runs */
	struct texts domains;        /* that the first script may reach */
	char *key;                   /* of what is asked of the index (lock.c) */
	struct installer *installer; /* runs a script now, or NULL */
	struct workspace_limits room;
	struct workspace *fetched; /* the wheels */
	struct box_mount mount;    /* of it, for a box that unpacks */
	struct box_mounts mounts;
	struct files_tree tree; /* of it */
	size_t next;            /* entry of it */
	struct package_set *set;
	unsigned python; /* minor version of that of the environment */
	bool pinned;     /* the set had a package that the index was to name again */
	struct packages_installed list;
	struct err over; /* why it was stopped */
	struct install *next_install;
};

/* The only end of an installation; e NULL: in->set is whole. */
void install_finish(struct install *, const struct err *e);
/* Each step calls this first.  true: the installation is over, and this call has finished it. */
bool install_failed(struct install *, const struct err *e);
/* Starts a script with in->arguments, and with in->room; no bytes: the default. */
int install_script(struct install *, const char *script, const struct texts *domains,
    const struct box_mounts *mounts,
    void (*done)(void *self, struct workspace *, const struct err *), struct err *e);
/* Sets in->room: what may still be unpacked, at most package_mb.  limit_exceeded. */
int install_room(struct install *, uint64_t files, struct err *);
int install_argument(struct install *, const char *kind, const char *text, struct err *);
int install_arguments(struct install *, const char *kind, const struct texts *, struct err *);
void install_progress(void *self, const char *data, size_t size);
/* Records what in->list names. */
void install_record(const struct install *);

/* Of each language: what install_begin() does, with in->set a copy of what is there; and the first
 * step. */
int wheels_prepare(struct install *, struct err *);
int wheels_begin(struct install *, struct err *);
int modules_prepare(struct install *, struct err *);
int modules_begin(struct install *, struct err *);
