/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - links to files of sessions, for whoever is given one.
 *
 * A link holds a secret about the file (secretbox.h), until when and in whose name it may be read:
 * it opens that one file, for that time, with no other credential.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* In whose name. */
struct link_owner {
	char principal[129], namespace[65]; /* namespace "": none */
};

/* Before the jail: the key, from a file or made anew. */
int links_open(struct err *);
/* "<base>/files/<session>/<path>?t=<sealed>", of malloc; NULL: no memory. */
char *links_make(const char *base, const struct account *, const char *session, const char *path);
/* denied where it was not made here, for this file, or has expired. */
int links_check(
    const char *session, const char *path, const char *sealed, struct link_owner *, struct err *);
/* Gives each artifact in a message, also in the lists of it, its download_url where the transport
 * serves files, and none elsewhere. */
void links_fill(const struct origin *, enum msg_id, void *message);
