/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h - a snapshot as a file: its owner, its entries, and a digest over both. */
#pragma once

#include "common/base/err.h"
#include "common/base/owner.h"
#include "common/table/schema.h"

#include <stddef.h>

struct manifest {
	struct owner owner;
	char *session_id;
	struct snapshot_manifest tree; /* snapshot is not NULL after manifest_read() */
};

enum {
	MANIFEST_MAX_BYTES = 65 << 20, /* a body of wire.h and the bytes before it */
};

/* Makes the file's bytes; the caller keeps the manifest. */
int manifest_write(struct manifest *, struct blob *file, struct err *);
/*
 * Reads into a zeroed manifest; snapshot_corrupt for anything that manifest_write() did not write.
 */
int manifest_read(const struct blob *file, struct manifest *, struct err *);
void manifest_clear(struct manifest *);
