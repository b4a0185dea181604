/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the certificate of HTTPS, read again when its files change.
 *
 * Files are checked when a connection begins, at most once a second.  They may be replaced one
 * after the other, by rename or through a link in their path, as in a mounted Secret.  While they
 * are not a matching pair, the previous pair stays in force, and the log says so once.
 */
#pragma once

#include "common/base/err.h"

#include <gnutls/abstract.h>

#include <stdbool.h>
#include <stdint.h>

/* tls_open(), before the jail, reads both files and keeps their directories, and those that
 * links lead to, readable in the jail.  tls_start(), inside it, warns of files that only the
 * starting user could read. */
int tls_open(struct err *);
void tls_start(void);
void tls_close(void); /* after the last connection */
bool tls_on(void);
/* For GnuTLS, at each handshake: returns the pair in force. */
gnutls_certificate_retrieve_function2 tls_choose;
/* No handshake that began before this time is in progress: wipes the keys that were replaced
 * before it. */
void tls_forget(int64_t before_ms);
