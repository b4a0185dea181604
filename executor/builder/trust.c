/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.c - finds the host's bundle of certificates, which each distribution keeps elsewhere.
 *
 * Boxes get a copy and not a bind: it has the operator's certificates too, and never the private
 * keys of the host, which are in the same directory.
 *
 * Trusts the host's files and the operator's setting.
 */
#include "executor/builder/trust.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"

#include <fcntl.h>
#include <string.h>

enum {
	BUNDLE_BYTES = 2 << 20,
	CERTIFICATE_BYTES = 256 << 10,
	CERTIFICATES = 256, /* of a site, in files of their own */
};

/* Debian, Fedora, openSUSE, Alpine; the first that exists. */
static const char *const bundles[] = { TRUST_BUNDLE, "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem" };

/* Where a site puts its own, from which Debian and Fedora make the bundle. */
static const char *const anchors[] = { "/usr/local/share/ca-certificates",
	"/etc/pki/ca-trust/source/anchors" };

static int
append(struct blob *to, const struct blob *from, struct err *e)
{
	char *grown = realloc(to->data, to->size + from->size + 1);

	if (grown == NULL)
		return err_sys(e, "certificates");
	if (from->size > 0)
		memcpy(grown + to->size, from->data, from->size);
	to->data = grown;
	to->size += from->size;
	grown[to->size++] = '\n'; /* a file may lack its last one */
	return 0;
}

static int
add_file(int dir, const char *path, size_t limit, struct blob *to, struct err *e)
{
	struct blob text = { 0 };
	int status = fdio_load(dir, path, limit, &text, e);

	if (status == 0)
		status = append(to, &text, e);
	free(text.data);
	return status;
}

static void
add_bundle(struct trust *trust)
{
	struct err e = { 0 };

	for (size_t i = 0; i < COUNT(bundles); i++)
		if (add_file(AT_FDCWD, bundles[i], BUNDLE_BYTES, &trust->all, &e) == 0)
			return;
	log_warn("this host has no bundle of CA certificates, so programs trust no TLS server; "
		 "install ca-certificates",
	    LOG_E(&e));
}

/* As update-ca-certificates(8), a file that does not end in .crt or .pem is none. */
static bool
is_certificate(const char *name)
{
	const char *end = strrchr(name, '.');

	return end != NULL && (strcmp(end, ".crt") == 0 || strcmp(end, ".pem") == 0);
}

/* One that cannot be read is left out: the bundle may have it. */
static void
add_anchors(const char *path, struct blob *to)
{
	auto_dir DIR *dir = opendir(path);
	const struct dirent *entry;
	struct err e;

	for (size_t n = 0; dir != NULL && n < CERTIFICATES && (entry = readdir(dir)) != NULL; n++)
		if (is_certificate(entry->d_name))
			add_file(dirfd(dir), entry->d_name, CERTIFICATE_BYTES, to, &e);
}

int
trust_load(const char *ca_file, struct trust *trust, struct err *e)
{
	struct blob own = { 0 };
	int status = 0;

	*trust = (struct trust){ 0 };
	add_bundle(trust);
	for (size_t i = 0; i < COUNT(anchors); i++)
		add_anchors(anchors[i], &trust->added);
	if (ca_file == NULL)
		return 0;
	if (fdio_load_given(ca_file, BUNDLE_BYTES, &own, e) < 0)
		return err_add(e, "ca_file");
	if (append(&trust->all, &own, e) < 0 || append(&trust->added, &own, e) < 0)
		status = -1;
	free(own.data);
	return status;
}

void
trust_clear(struct trust *trust)
{
	free(trust->all.data);
	free(trust->added.data);
	*trust = (struct trust){ 0 };
}
