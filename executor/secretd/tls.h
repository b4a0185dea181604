/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - both ends of TLS for a bound name: the server that a program sees, and the client of the
 * real one. TLS 1.2 or later, and HTTP/1.1 (RFC 7301: "http/1.1").
 */
#pragma once

#include "common/base/err.h"

#include <gnutls/gnutls.h>

#include <stdint.h>

/* Before the jail: this host's authorities, and those of a file in PEM; "": none. The caller calls
 * gnutls_certificate_free_credentials(). */
int tls_trust(const char *ca_file, gnutls_certificate_credentials_t *, struct err *);
/* Greets a client of that name on a non-blocking socket; -1 after until_ms of loop_now_ms(). */
int tls_accept(int sock, gnutls_certificate_credentials_t server, const char *name,
    int64_t until_ms, gnutls_session_t *, struct err *);
/* Greets that server. Has verified its certificate for that name when it returns 0. */
int tls_connect(int sock, gnutls_certificate_credentials_t trust, const char *name,
    int64_t until_ms, gnutls_session_t *, struct err *);
