/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - links to files of sessions.
 *
 * A link contains an encrypted statement (secretbox.h): the file that it opens, its expiry, and
 * its owner.  It opens only that file, and needs no other credential.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* Call before entering the jail: reads the key from a file, or makes a random one. */
int links_open(struct err *);
/* "<base>/files/<session>/<path>?t=<sealed>", allocated with malloc; NULL: no memory. */
char *links_make(const char *base, const struct owner *, const char *session, const char *path);
/* Stores the owner of the file.  Fails with denied if the link was not made with this key, is for
 * another file, or has expired. */
int links_check(
    const char *session, const char *path, const char *sealed, struct owner *, struct err *);
/* Adds a download_url to each artifact of a message, including those in lists, if the transport
 * serves files. */
void links_fill(const struct origin *, enum msg_id, void *message);
