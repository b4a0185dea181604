/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - seals and opens; trusts libsodium, and no byte of a cell. */
#include "executor/vault/cell.h"

#include <sodium.h>
#include <stdlib.h>

enum {
	NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
	TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
};

int
cell_seal(const uint8_t *key, const struct blob *of, const void *data, size_t size,
    struct blob *cell, struct err *e)
{
	uint8_t *at = malloc(NONCE + size + TAG);

	if (at == NULL)
		return err_sys(e, "seal");
	randombytes_buf(at, NONCE);
	crypto_aead_xchacha20poly1305_ietf_encrypt(
	    at + NONCE, NULL, data, size, of->data, of->size, NULL, at, key);
	*cell = (struct blob){ at, NONCE + size + TAG };
	return 0;
}

int
cell_open(const uint8_t *key, const struct blob *of, const struct blob *cell, struct blob *data,
    struct err *e)
{
	const uint8_t *at = cell->data;
	size_t size = cell->size >= NONCE + TAG ? cell->size - NONCE - TAG : 0;
	uint8_t *to = malloc(size + 1);

	if (to == NULL)
		return err_sys(e, "unseal");
	if (cell->size >= NONCE + TAG &&
	    crypto_aead_xchacha20poly1305_ietf_decrypt(
		to, NULL, NULL, at + NONCE, size + TAG, of->data, of->size, at, key) == 0) {
		to[size] = 0;
		*data = (struct blob){ to, size };
		return 0;
	}
	free(to);
	return err_set(e, ERR_internal, "it was sealed with another key, or changed since");
}

void
cell_wipe(struct blob *data)
{
	if (data->data != NULL)
		sodium_memzero(data->data, data->size);
	blob_clear(data);
}
