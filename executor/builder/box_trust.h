/* SPDX-License-Identifier: Apache-2.0 */
/*
 * box_trust.h - a further authority that the programs of one box trust: that of a run whose names
 * have credentials in secretd.
 *
 * The box's directory of certificates is covered by one with the same files, of which each has that
 * certificate, too.  So every program trusts it that trusts the host's authorities.
 */
#pragma once

#include "executor/builder/trust.h"

#include <stdbool.h>

enum {
	BOX_TRUST_BYTES = 16384, /* of the certificate in PEM, with a zero byte */
};

/* The certificates of all boxes, which are copied. */
int box_trust_keep(const struct trust *, struct err *);
/* Reads a text to its end; its writer has written and closed it.  NULL with *e; the caller owns the
 * result. */
char *box_trust_read(int fd, struct err *);
/* Mounts the directory in that mount namespace. *there: that of an earlier run is there, which this
 * one replaces. */
int box_trust_mount(int space, const char *certificate, bool *there, struct err *);
