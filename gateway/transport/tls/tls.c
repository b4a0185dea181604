/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - selects the pair of a handshake.
 *
 * GnuTLS borrows the pair until the end of the handshake, and an old cipher decrypts with the key
 * only then.  So a replaced pair stays in the list behind the current one until tls_forget().
 */
#include "gateway/transport/tls/tls.h"

#include "gateway/options.h"
#include "gateway/transport/tls/pair.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/timestamp.h"
#include "common/daemon/daemon.h"

#include <fcntl.h>
#include <libgen.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	LOOK_MS = 1000,
	FILE_MAX = 1 << 20,
};

static struct {
	struct pair *pairs; /* the current one first */
	bool copied;        /* both files are systemd's copies, which only root can read */
	struct stat seen[2];
	int64_t looked_ms;
	char why[sizeof((struct err *)NULL)->text]; /* the last failure; "": none */
} tls;

bool
tls_on(void)
{
	return *options.tls_certificate != '\0';
}

/* ---- the files ---- */

static void
wipe(struct blob *text)
{
	sodium_memzero(text->data, text->size);
	blob_clear(text);
}

static int
read_pem(const char *setting, const char *path, struct blob *text, struct err *e)
{
	return fdio_load_given(path, FILE_MAX, text, e) < 0 ? err_add(e, "%s", setting) : 0;
}

static struct pair *
read_pair(struct err *e)
{
	struct blob certificate, key;
	struct pair *pair = NULL;

	if (read_pem("tls_certificate", options.tls_certificate, &certificate, e) < 0)
		return NULL;
	if (read_pem("tls_key", options.tls_key, &key, e) == 0) {
		pair = pair_read(&certificate, &key, e);
		wipe(&key);
	}
	wipe(&certificate); /* one file may contain both */
	return pair;
}

/* Whether a file has changed.  A missing file compares as all zeros. */
static bool
changed(void)
{
	const char *const paths[] = { options.tls_certificate, options.tls_key };
	bool any = false;

	for (size_t i = 0; i < COUNT(paths); i++) {
		struct stat now;

		if (stat(paths[i], &now) < 0)
			now = (struct stat){ 0 };
		any |= !fdio_same(&now, &tls.seen[i]);
		tls.seen[i] = now;
	}
	return any;
}

/* LoadCredential= copies a file once, at the start of the unit. */
static bool
is_copy(const char *path)
{
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	size_t size = directory == NULL ? 0 : strlen(directory);

	return size > 0 && strncmp(path, directory, size) == 0 && path[size] == '/';
}

/* ---- the current pair ---- */

static void
put_in_force(struct pair *pair)
{
	char until[TIMESTAMP_TEXT];

	tls.pairs->replaced_ms = loop_now_ms();
	pair->next = tls.pairs;
	tls.pairs = pair;
	tls.why[0] = '\0';
	timestamp_text((struct timespec){ .tv_sec = pair->until_s }, 0, until);
	log_info("TLS certificate read", LOG_S("until", until));
}

static void
renew(void)
{
	struct err e;
	struct pair *pair = read_pair(&e);

	if (pair != NULL) {
		put_in_force(pair);
	} else if (strcmp(tls.why, e.text) != 0) {
		snprintf(tls.why, sizeof tls.why, "%s", e.text);
		log_warn("new TLS certificate not accepted, the previous one stays in use",
		    LOG_E(&e),
		    LOG_S("remedy", "tls_certificate and tls_key must match and be readable by "
				    "this daemon's user"));
	}
}

/* A failed read is tried again without a change of the files: descriptors may have been
 * exhausted, and a file that is written again within one tick of the clock looks unchanged. */
static void
look(void)
{
	int64_t now_ms = loop_now_ms();

	if (tls.copied || now_ms - tls.looked_ms < LOOK_MS)
		return;
	tls.looked_ms = now_ms;
	if (changed() || tls.why[0] != '\0')
		renew();
}

/* The library's signature. */
int /* NOLINTNEXTLINE(readability-function-size) */
tls_choose(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
    const gnutls_pk_algorithm_t *algorithms, int algorithms_count, gnutls_pcert_st **chain,
    unsigned *chain_count, gnutls_privkey_t *key)
{
	(void)session, (void)authorities, (void)count, (void)algorithms, (void)algorithms_count;
	look();
	*chain = tls.pairs->chain;
	*chain_count = tls.pairs->count;
	*key = tls.pairs->key;
	return 0;
}

void
tls_forget(int64_t before_ms)
{
	struct pair **at = tls.pairs == NULL ? &tls.pairs : &tls.pairs->next;

	while (*at != NULL) {
		struct pair *old = *at;

		if (old->replaced_ms < before_ms) {
			*at = old->next;
			pair_free(old);
			log_debug("replaced TLS key wiped");
		} else {
			at = &old->next;
		}
	}
}

/* ---- start and stop ---- */

/* Allows the directory, not the file, because another file replaces it. */
static int
allow_directory(const char *path, struct err *e)
{
	auto_free char *copy = strdup(path);

	if (copy == NULL)
		return err_sys(e, "%s", path);

	int fd = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open the directory of %s", path);
	daemon_allow(fd, JAIL_READ);
	return 0;
}

static int
allow(const char *path, struct err *e)
{
	auto_free char *real = realpath(path, NULL);

	if (real == NULL)
		return err_sys(e, "%s", path);
	return allow_directory(path, e) < 0 || allow_directory(real, e) < 0 ? -1 : 0;
}

int
tls_open(struct err *e)
{
	if (tls_on() != (*options.tls_key != '\0'))
		return err_set(
		    e, ERR_invalid_argument, "tls_certificate and tls_key: set both or neither");
	if (!tls_on())
		return 0;
	if (MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK) != MHD_YES)
		return err_set(e, ERR_unavailable, "this libmicrohttpd was built without TLS");
	changed();
	tls.pairs = read_pair(e);
	if (tls.pairs == NULL)
		return -1;
	tls.copied = is_copy(options.tls_certificate) && is_copy(options.tls_key);
	if (tls.copied)
		return 0;
	return allow(options.tls_certificate, e) < 0 || allow(options.tls_key, e) < 0 ? -1 : 0;
}

void
tls_start(void)
{
	if (tls_on() && !tls.copied)
		renew();
}

void
tls_close(void)
{
	struct pair *next;

	for (struct pair *pair = take_ptr(tls.pairs); pair != NULL; pair = next) {
		next = pair->next;
		pair_free(pair);
	}
}
