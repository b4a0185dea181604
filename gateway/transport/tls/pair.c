/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c - parses two files, and checks that the key belongs to the certificate; the operator is
 * trusted. */
#include "gateway/transport/tls/pair.h"

#include "common/base/auto.h"

#include <gnutls/x509.h>

#include <string.h>

static gnutls_datum_t
datum(const struct blob *b)
{
	return (gnutls_datum_t){ .data = b->data, .size = (unsigned)b->size };
}

static int
failed(struct err *e, const char *setting, int status)
{
	return err_set(e, ERR_invalid_argument, "%s is broken or not in PEM: %s", setting,
	    gnutls_strerror(status));
}

/* Sorts the chain as clients require, whatever the order in the file. */
static int
read_chain(struct pair *pair, const struct blob *certificate, struct err *e)
{
	gnutls_datum_t text = datum(certificate);
	gnutls_x509_crt_t *found;
	unsigned count = 0;
	int status = gnutls_x509_crt_list_import2(&found, &count, &text, GNUTLS_X509_FMT_PEM, 0);

	if (status < 0)
		return failed(e, "tls_certificate", status);
	pair->count = count;
	pair->chain = calloc(count, sizeof *pair->chain);
	status = pair->chain == NULL ? GNUTLS_E_MEMORY_ERROR
	                             : gnutls_pcert_import_x509_list(pair->chain, found,
					   &pair->count, GNUTLS_X509_CRT_LIST_SORT);
	pair->until_s = (int64_t)gnutls_x509_crt_get_expiration_time(found[0]);
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(found[i]);
	gnutls_free(found);
	if (status >= 0)
		return 0;
	free(take_ptr(pair->chain)); /* the library has emptied it */
	return failed(e, "tls_certificate", status);
}

static int
read_key(struct pair *pair, const struct blob *key, struct err *e)
{
	gnutls_datum_t text = datum(key);
	int status = gnutls_privkey_init(&pair->key);

	if (status >= 0)
		status =
		    gnutls_privkey_import_x509_raw(pair->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
	return status < 0 ? failed(e, "tls_key", status) : 0;
}

/* Checks as a client would: the certificate verifies a signature of the key. */
static int
check(const struct pair *pair, struct err *e)
{
	gnutls_pubkey_t public = pair->chain[0].pubkey;
	gnutls_datum_t text = { (unsigned char[]){ "cloister" }, 8 }, signature = { 0 };
	gnutls_digest_algorithm_t hash;
	int status = gnutls_pubkey_get_preferred_hash_algorithm(public, &hash, NULL);

	if (status < 0)
		return failed(e, "tls_certificate", status);

	gnutls_sign_algorithm_t sign =
	    gnutls_pk_to_sign(gnutls_pubkey_get_pk_algorithm(public, NULL), hash);

	status = gnutls_privkey_sign_data2(pair->key, sign, 0, &text, &signature);
	if (status >= 0)
		status = gnutls_pubkey_verify_data2(
		    public, sign, GNUTLS_VERIFY_ALLOW_BROKEN, &text, &signature);
	gnutls_free(signature.data);
	if (status >= 0)
		return 0;
	return err_set(e, ERR_invalid_argument, "tls_key is not the key of tls_certificate");
}

struct pair *
pair_read(const struct blob *certificate, const struct blob *key, struct err *e)
{
	struct pair *pair = calloc(1, sizeof *pair);

	if (pair == NULL) {
		err_sys(e, "tls_certificate");
		return NULL;
	}
	if (read_chain(pair, certificate, e) == 0 && read_key(pair, key, e) == 0 &&
	    check(pair, e) == 0)
		return pair;
	pair_free(pair);
	return NULL;
}

void
pair_free(struct pair *pair)
{
	if (pair == NULL)
		return;
	for (unsigned i = 0; pair->chain != NULL && i < pair->count; i++)
		gnutls_pcert_deinit(&pair->chain[i]);
	free(pair->chain);
	if (pair->key != NULL)
		gnutls_privkey_deinit(pair->key);
	free(pair);
}
