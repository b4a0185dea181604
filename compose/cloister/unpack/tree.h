/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the file system of an image, made from its layers (OCI image-spec v1.1, layer.md).
 *
 * Every path of a layer is resolved within the tree, so no link leads out of it.  Owners, devices,
 * sockets, extended attributes and set-user-ID bits of a layer are left out: its files belong to
 * who unpacks them, and everyone may read them.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TREE_ENTRIES = 1 << 20, /* that the layers of one image may have together */
};
#define TREE_BYTES (UINT64_C(32) << 30)

struct tree {
	int root; /* an empty directory at first; owned by the caller */
	uint64_t bytes, entries;
};

/* Makes /bin, /sbin and /lib links into /usr, as boxes have them; directories of a layer with these
 * names are merged into /usr. */
int tree_begin(struct tree *, struct err *);
/* Applies a layer from a file, compressed or not.  later: what it deletes of earlier layers is
 * deleted first. */
int tree_apply(struct tree *, int layer, bool later, struct err *);
/* openat2(2) with RESOLVE_IN_ROOT, O_PATH and O_CLOEXEC.  -1 with errno. */
int tree_open(const struct tree *, const char *path);
