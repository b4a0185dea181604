/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner_directory.h - one directory for each owner: <state>/<kind>/<owner>, where <owner> is the
 * start of a hash of this executor's instance and of the owner.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"

#include <dirent.h>

enum { OWNER_DIRECTORY = 64 };

/* Its path below the state directory. */
void owner_directory_path(const char *kind, const struct owner *, char path[OWNER_DIRECTORY]);
/* A descriptor; -1: there is none. */
int owner_directory_open(int state, const char *kind, const struct owner *);
/* The same; makes what is missing. */
int owner_directory_make(int state, const char *kind, const struct owner *, struct err *);
/* Calls each() with the name of every file in the directory; closes the directory. */
void owner_directory_walk(
    int directory, void (*each)(int directory, const char *name, void *self), void *self);
/* Calls each() with a descriptor of every owner's directory, which each() closes, and removes those
 * that are empty then. */
void owner_directory_each(
    int state, const char *kind, void (*each)(int directory, void *self), void *self);
/* Calls each() for every file of every owner, and removes directories that are empty. */
void owner_directory_walk_all(int state, const char *kind,
    void (*each)(int directory, const char *name, void *self), void *self);
