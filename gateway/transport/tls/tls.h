/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - the certificate that HTTPS is served with, read again when its files change.
 *
 * Looked at when a connection begins, at most once a second.  The files may be replaced one after
 * the other, by rename or by a link on the way, as in a mounted Secret: as long as they are not a
 * whole pair, the pair that was read before stays in force, and the log says so once.
 */
#pragma once

#include "common/base/err.h"

#include <gnutls/abstract.h>

#include <stdbool.h>
#include <stdint.h>

/* Before the jail: reads both files, and keeps their folders, and those that links lead to,
 * readable in it.  Then within, where it warns of files that only who started this could read. */
int tls_open(struct err *);
void tls_start(void);
void tls_close(void); /* after the last connection */
bool tls_on(void);
/* For GnuTLS, at each handshake: the pair in force. */
gnutls_certificate_retrieve_function2 tls_choose;
/* No handshake that began before this moment is still under way: keys that were replaced before
 * it are wiped. */
void tls_forget(int64_t before_ms);
