/* SPDX-License-Identifier: Apache-2.0 */
/* authority.c - makes certificates with GnuTLS; trusts it and the caller's names. */
#include "executor/secretd/authority.h"

#include "common/base/auto.h"

#include <gnutls/crypto.h>
#include <gnutls/x509-ext.h>
#include <gnutls/x509.h>

#include <string.h>
#include <time.h>

enum {
	SERIAL_BYTES = 16,
	ID_BYTES = 64,
};

struct authority {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
	gnutls_datum_t pem; /* ends with a zero byte */
};

static int
failed(struct err *e, const char *what, int status)
{
	return err_set(e, ERR_internal, "%s: %s", what, gnutls_strerror(status));
}

static int
make_key(gnutls_x509_privkey_t *key)
{
	int status = gnutls_x509_privkey_init(key);

	return status < 0 ? status
	                  : gnutls_x509_privkey_generate(*key, GNUTLS_PK_ECDSA,
				GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
}

/* ---- what both kinds of certificate have ---- */

static int
set_serial(gnutls_x509_crt_t certificate)
{
	unsigned char serial[SERIAL_BYTES];
	int status = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);

	serial[0] = (serial[0] & 0x3f) | 0x40; /* positive, and of this length */
	return status < 0 ? status : gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
}

static int
set_life(gnutls_x509_crt_t certificate)
{
	time_t now = time(NULL);
	int status = gnutls_x509_crt_set_activation_time(certificate, now - AUTHORITY_BEFORE_S);

	return status < 0
	           ? status
	           : gnutls_x509_crt_set_expiration_time(certificate, now + AUTHORITY_LIFE_S);
}

static int
set_subject(gnutls_x509_crt_t certificate, const char *name)
{
	return gnutls_x509_crt_set_dn_by_oid(
	    certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name, (unsigned)strlen(name));
}

/* The id of the subject's key; strict verifiers demand it (RFC 5280, 4.2.1.2). */
static int
set_subject_key(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key)
{
	unsigned char id[ID_BYTES];
	size_t size = sizeof id;
	int status = gnutls_x509_crt_set_key(certificate, key);

	if (status >= 0)
		status = gnutls_x509_crt_get_key_id(certificate, 0, id, &size);
	return status < 0 ? status : gnutls_x509_crt_set_subject_key_id(certificate, id, size);
}

/* The steps in their order; the first failure ends them. */
static int
set_common(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *subject)
{
	int status = gnutls_x509_crt_set_version(certificate, 3);

	if (status >= 0)
		status = set_serial(certificate);
	if (status >= 0)
		status = set_life(certificate);
	if (status >= 0)
		status = set_subject(certificate, subject);
	return status < 0 ? status : set_subject_key(certificate, key);
}

/* ---- the authority ---- */

static int
permit(gnutls_x509_name_constraints_t constraints, const struct texts *names)
{
	for (size_t i = 0; i < names->count; i++) {
		gnutls_datum_t name = { (unsigned char *)names->items[i],
			(unsigned)strlen(names->items[i]) };
		int status = gnutls_x509_name_constraints_add_permitted(
		    constraints, GNUTLS_SAN_DNSNAME, &name);

		if (status < 0)
			return status;
	}
	return 0;
}

static int
set_constraints(gnutls_x509_crt_t certificate, const struct texts *names)
{
	gnutls_x509_name_constraints_t constraints;
	int status = gnutls_x509_name_constraints_init(&constraints);

	if (status < 0)
		return status;
	status = permit(constraints, names);
	if (status >= 0)
		status = gnutls_x509_crt_set_name_constraints(certificate, constraints, 1);
	gnutls_x509_name_constraints_deinit(constraints);
	return status;
}

static int
sign_itself(struct authority *authority, const struct texts *names)
{
	int status = gnutls_x509_crt_init(&authority->certificate);
	gnutls_x509_crt_t certificate = authority->certificate;

	if (status >= 0)
		status = set_common(certificate, authority->key, "Authority of a box");
	if (status >= 0)
		status = gnutls_x509_crt_set_basic_constraints(certificate, 1, 0);
	if (status >= 0)
		status = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_KEY_CERT_SIGN);
	if (status >= 0)
		status = set_constraints(certificate, names);
	return status < 0 ? status
	                  : gnutls_x509_crt_sign2(
				certificate, certificate, authority->key, GNUTLS_DIG_SHA256, 0);
}

struct authority *
authority_new(const struct texts *names, struct err *e)
{
	struct authority *authority = calloc(1, sizeof *authority);

	if (authority == NULL) {
		err_sys(e, "authority");
		return NULL;
	}

	int status = make_key(&authority->key);

	if (status >= 0)
		status = sign_itself(authority, names);
	if (status >= 0)
		status = gnutls_x509_crt_export2(
		    authority->certificate, GNUTLS_X509_FMT_PEM, &authority->pem);
	if (status >= 0)
		return authority;
	failed(e, "authority", status);
	authority_free(authority);
	return NULL;
}

const char *
authority_certificate(const struct authority *authority)
{
	return (const char *)authority->pem.data;
}

void
authority_free(struct authority *authority)
{
	if (authority == NULL)
		return;
	if (authority->key != NULL)
		gnutls_x509_privkey_deinit(authority->key);
	if (authority->certificate != NULL)
		gnutls_x509_crt_deinit(authority->certificate);
	gnutls_free(authority->pem.data);
	free(authority);
}

/* ---- certificates of servers ---- */

/* The id of the issuer's key, as it has it itself. */
static int
set_issuer_key(gnutls_x509_crt_t certificate, const struct authority *authority)
{
	unsigned char id[ID_BYTES];
	size_t size = sizeof id;
	unsigned critical;
	int status =
	    gnutls_x509_crt_get_subject_key_id(authority->certificate, id, &size, &critical);

	return status < 0 ? status : gnutls_x509_crt_set_authority_key_id(certificate, id, size);
}

static int
sign_leaf(const struct authority *authority, const char *name, gnutls_x509_crt_t certificate,
    gnutls_x509_privkey_t key)
{
	int status = set_common(certificate, key, "Server of a box");

	if (status >= 0)
		status = gnutls_x509_crt_set_subject_alt_name(
		    certificate, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name), GNUTLS_FSAN_SET);
	if (status >= 0)
		status = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
	if (status >= 0)
		status = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (status >= 0)
		status =
		    gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (status >= 0)
		status = set_issuer_key(certificate, authority);
	return status < 0 ? status
	                  : gnutls_x509_crt_sign2(certificate, authority->certificate,
				authority->key, GNUTLS_DIG_SHA256, 0);
}

static int
make_leaf(
    const struct authority *authority, const char *name, gnutls_certificate_credentials_t server)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t certificate = NULL;
	int status = make_key(&key);

	if (status >= 0)
		status = gnutls_x509_crt_init(&certificate);
	if (status >= 0)
		status = sign_leaf(authority, name, certificate, key);
	if (status >= 0)
		status = gnutls_certificate_set_x509_key(server, &certificate, 1, key);
	if (certificate != NULL)
		gnutls_x509_crt_deinit(certificate);
	if (key != NULL)
		gnutls_x509_privkey_deinit(key);
	return status;
}

int
authority_issue(const struct authority *authority, const char *name,
    gnutls_certificate_credentials_t *server, struct err *e)
{
	int status = gnutls_certificate_allocate_credentials(server);

	if (status < 0)
		return failed(e, name, status);
	status = make_leaf(authority, name, *server);
	if (status >= 0)
		return 0;
	gnutls_certificate_free_credentials(*server);
	*server = NULL;
	return failed(e, name, status);
}
