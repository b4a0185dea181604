/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h - a snapshot as a file: whose it is, what is in it, and a digest over all of that. */
#pragma once

#include "common/base/err.h"
#include "common/table/schema.h"

#include <stddef.h>

struct manifest {
	char *principal, *space, *session_id;
	struct snapshot_manifest tree; /* snapshot is never NULL in one that was read */
};

enum {
	MANIFEST_MAX_BYTES = 65 << 20, /* a body of wire.h and what stands before it */
};

/* The file's bytes; the manifest stays the caller's. */
int manifest_write(struct manifest *, struct blob *file, struct err *);
/* Into a zeroed manifest: snapshot_corrupt for anything that manifest_write() did not write. */
int manifest_read(const struct blob *file, struct manifest *, struct err *);
void manifest_clear(struct manifest *);
