/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - greets with GnuTLS on non-blocking sockets; trusts neither side before it is verified. */
#include "executor/secretd/tls.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

static int
failed(struct err *e, const char *what, int status)
{
	return err_set(e, ERR_unavailable, "%s: %s", what, gnutls_strerror(status));
}

int
tls_trust(const char *ca_file, gnutls_certificate_credentials_t *trust, struct err *e)
{
	int status = gnutls_certificate_allocate_credentials(trust);

	if (status < 0)
		return failed(e, "trust", status);
	/* A host without a bundle is no error: ca_file may be enough. */
	gnutls_certificate_set_x509_system_trust(*trust);
	if (ca_file[0] == '\0')
		return 0;
	status = gnutls_certificate_set_x509_trust_file(*trust, ca_file, GNUTLS_X509_FMT_PEM);
	if (status > 0)
		return 0;
	gnutls_certificate_free_credentials(*trust);
	return err_set(e, ERR_invalid_argument, "ca_file: %s: %s", ca_file,
	    status == 0 ? "has no certificate in PEM" : gnutls_strerror(status));
}

/* The system calls of the jail, without sendmsg(2), which can pass descriptors. */
static ssize_t
push(gnutls_transport_ptr_t sock, const void *data, size_t size)
{
	return write((int)(intptr_t)sock, data, size);
}

static ssize_t
pull(gnutls_transport_ptr_t sock, void *data, size_t size)
{
	return read((int)(intptr_t)sock, data, size);
}

static int
open_session(int sock, unsigned flags, gnutls_certificate_credentials_t credentials,
    gnutls_session_t *session)
{
	static unsigned char name[] = "http/1.1";
	const gnutls_datum_t protocol = { name, sizeof name - 1 };
	int status =
	    gnutls_init(session, flags | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS);

	if (status < 0)
		return status;
	gnutls_transport_set_ptr(*session, (gnutls_transport_ptr_t)(intptr_t)sock);
	gnutls_transport_set_push_function(*session, push);
	gnutls_transport_set_pull_function(*session, pull);
	gnutls_handshake_set_timeout(*session, 0);
	status = gnutls_priority_set_direct(*session, PRIORITY, NULL);
	if (status >= 0)
		status = gnutls_credentials_set(*session, GNUTLS_CRD_CERTIFICATE, credentials);
	return status < 0 ? status : gnutls_alpn_set_protocols(*session, &protocol, 1, 0);
}

static int
wait_for(gnutls_session_t session, int sock, int64_t until_ms)
{
	bool writes = gnutls_record_get_direction(session) == 1;
	struct pollfd one = { .fd = sock, .events = writes ? POLLOUT : POLLIN };
	int64_t left = until_ms - loop_now_ms();

	return left <= 0 || poll(&one, 1, (int)left) == 0 ? GNUTLS_E_TIMEDOUT : 0;
}

static int
greet(gnutls_session_t session, int sock, int64_t until_ms)
{
	int status;

	do {
		status = gnutls_handshake(session);
		if (status == GNUTLS_E_AGAIN && wait_for(session, sock, until_ms) < 0)
			return GNUTLS_E_TIMEDOUT;
	} while (status < 0 && gnutls_error_is_fatal(status) == 0);
	return status;
}

/* egress has read the same bytes, and a server must not depend on that. */
static int
check_name(gnutls_session_t session, const char *name, struct err *e)
{
	char asked[256];
	size_t size = sizeof asked;
	unsigned type;

	if (gnutls_server_name_get(session, asked, &size, &type, 0) < 0 || type != GNUTLS_NAME_DNS)
		return err_set(e, ERR_denied, "a client names no server");
	if (strcasecmp(asked, name) != 0)
		return err_set(e, ERR_denied, "a client names another server");
	return 0;
}

int
tls_accept(int sock, gnutls_certificate_credentials_t server, const char *name, int64_t until_ms,
    gnutls_session_t *session, struct err *e)
{
	int status = open_session(sock, GNUTLS_SERVER, server, session);

	if (status >= 0)
		status = greet(*session, sock, until_ms);
	return status < 0 ? failed(e, "TLS of a client", status) : check_name(*session, name, e);
}

static int
tell_verification(gnutls_session_t session, struct err *e)
{
	gnutls_datum_t text = { 0 };

	if (gnutls_certificate_verification_status_print(
		gnutls_session_get_verify_cert_status(session), GNUTLS_CRT_X509, &text, 0) < 0)
		return err_set(e, ERR_denied, "its certificate is not verified");
	err_set(e, ERR_denied, "%s", (const char *)text.data);
	gnutls_free(text.data);
	return -1;
}

int
tls_connect(int sock, gnutls_certificate_credentials_t trust, const char *name, int64_t until_ms,
    gnutls_session_t *session, struct err *e)
{
	int status = open_session(sock, GNUTLS_CLIENT, trust, session);

	if (status >= 0)
		status = gnutls_server_name_set(*session, GNUTLS_NAME_DNS, name, strlen(name));
	if (status < 0)
		return failed(e, "TLS to a server", status);
	gnutls_session_set_verify_cert(*session, name, 0);
	status = greet(*session, sock, until_ms);
	if (status == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
		return tell_verification(*session, e);
	return status < 0 ? failed(e, "TLS to a server", status) : 0;
}
