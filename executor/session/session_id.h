/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_id.h - ids of sessions: sess_<executor>_<32 hexadecimal digits>.
 *
 * Half of the digits are random.  The other half is a MAC over them and the owner, with a key that
 * outlives this process.  So an expired id can be distinguished from one that this owner never had,
 * without a list of old ids.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	SESSION_ID = 65,   /* bytes, with the zero */
	SESSION_NAME = 65, /* likewise */
};

/* In start(): reads the key or makes one. */
int session_id_open(struct err *);
void session_id_make(const struct owner *, char id[SESSION_ID]);
/* Does it have that form? */
bool session_id_formed(const char *id);
/* The name in an id of the form "name:NAME", or NULL. */
const char *session_id_name(const char *id);
/* A name has 1 to 64 letters, digits, _ and -.  invalid_argument. */
int session_id_check_name(const char *name, struct err *);
/* Was it issued to this owner, by this process or an earlier one? */
bool session_id_given(const struct owner *, const char *id);
