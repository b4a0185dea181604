/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the certificate of HTTPS, which is read again when its files change.
 *
 * The files are checked when a connection begins, at most once a second.  They may be replaced one
 * after the other, by rename or through a link in their path, as in a mounted Secret.  While they
 * are not a matching pair, the previous pair stays in use, and the log says so once.
 */
#pragma once

#include "common/base/err.h"

#include <gnutls/abstract.h>

#include <stdbool.h>
#include <stdint.h>

/* tls_open(), called before the jail, reads both files and keeps their directories, and those
 * that links lead to, readable in the jail.  tls_start(), called inside it, warns about files
 * that only the user that started the gateway could read. */
int tls_open(struct err *);
void tls_start(void);
void tls_close(void); /* after the last connection */
bool tls_on(void);
/* For GnuTLS, at each handshake: returns the current pair. */
gnutls_certificate_retrieve_function2 tls_choose;
/* Wipes the keys that were replaced before that time.  No handshake that began earlier may be in
 * progress. */
void tls_forget(int64_t before_ms);
