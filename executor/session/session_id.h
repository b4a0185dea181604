/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_id.h - ids of sessions: sess_<executor>_<32 hexadecimal digits>.
 *
 * Half of the digits are random, half a code over them and the owner, made with a key of this
 * executor's that outlives it: an id from an earlier life is told from one that was never given to
 * this owner, and no list of old ids is kept.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	SESSION_ID = 65, /* bytes, with the zero */
};

/* In start(): reads the key or makes one. */
int session_id_open(struct err *);
void session_id_make(const struct call *owner, char id[SESSION_ID]);
/* Is it of that form? */
bool session_id_formed(const char *id);
/* Was it given to this owner, in this life or an earlier one? */
bool session_id_given(const struct call *owner, const char *id);
