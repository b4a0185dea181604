/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - CURVE keys, which identify daemons on other machines.
 *
 * Trusts the directory, which the operator made; symlinks must stay in it. Refuses secrets that
 * others can read.
 *
 * CZMQ's zcert would take 6 lines instead of 2 to make a pair, derives no public key from a stored
 * secret, and loads 9 more libraries: a program that only makes a pair takes 4.0 ms of processor
 * time instead of 2.7.
 */
#include "common/bus/keys.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

/* A file of root may be readable by a group: a mounted Secret gives its files to the group of
 * the reading process. */
static int
check_secret(int fd, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "stat");
	if ((st.st_mode & (st.st_uid == 0 ? 037 : 077)) != 0)
		return err_set(e, ERR_denied,
		    "readable by others; the mode must be 0600, or 0640 if root owns it");
	return 0;
}

static int
load(int directory, const char *daemon, const char *ending, char text[KEYS_TEXT], struct err *e)
{
	bool secret = strcmp(ending, "key") == 0;
	char name[64];
	uint8_t raw[32];
	struct blob file = { 0 };

	snprintf(name, sizeof name, "%s.%s", daemon, ending);
	auto_fd int fd = fdio_open_inside(directory, name, e);
	if (fd < 0 || (secret && check_secret(fd, e) < 0) ||
	    fdio_load_open(fd, name, 128, &file, e) < 0)
		return err_add(e, "key %s", name);
	snprintf(text, KEYS_TEXT, "%.*s", (int)strcspn(file.data, " \r\n"), (char *)file.data);
	sodium_memzero(file.data, file.size);
	blob_clear(&file);
	bool good = strlen(text) == KEYS_TEXT - 1 && zmq_z85_decode(raw, text) != NULL;
	sodium_memzero(raw, sizeof raw);
	return good ? 0
	            : err_set(e, ERR_invalid_argument, "key %s: not 40 characters of Z85", name);
}

int
keys_load(const char *path, enum peer self, struct keys *k, struct err *e)
{
	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return err_sys(e, "keys: open %s", path);
	*k = (struct keys){ .secret = "" };
	if (load(directory, edge_peer_name(self), "key", k->secret, e) < 0)
		return -1;
	if (zmq_curve_public(k->public, k->secret) < 0)
		return err_set(
		    e, ERR_invalid_argument, "key of %s: not a CURVE key", edge_peer_name(self));
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++) {
		if (edge_find(self, peer) == NULL && edge_find(peer, self) == NULL)
			continue;
		if (load(directory, edge_peer_name(peer), "pub", k->peers[peer], e) < 0)
			return -1;
	}
	return 0;
}

void
keys_clear(struct keys *k)
{
	sodium_memzero(k, sizeof *k);
}

static int
make_secret(int directory, const char *daemon, struct err *e)
{
	char name[64], secret[KEYS_TEXT], public[KEYS_TEXT];

	snprintf(name, sizeof name, "%s.key", daemon);
	if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (zmq_curve_keypair(public, secret) < 0)
		return err_set(e, ERR_internal, "make a CURVE key: %s", zmq_strerror(zmq_errno()));
	int rc = fdio_store(directory, name, secret, strlen(secret), 0600, e);
	sodium_memzero(secret, sizeof secret);
	return rc < 0 ? err_add(e, "key %s", name) : 0;
}

/* Derives the public key from the existing secret key. An earlier run may have written no public
 * key, or that of another secret key. */
static int
make_public(int directory, const char *daemon, struct err *e)
{
	char name[64], secret[KEYS_TEXT], public[KEYS_TEXT], had[KEYS_TEXT];
	struct err unread;

	if (load(directory, daemon, "key", secret, e) < 0)
		return -1;
	int rc = zmq_curve_public(public, secret);
	sodium_memzero(secret, sizeof secret);
	if (rc < 0)
		return err_set(e, ERR_invalid_argument, "key of %s: not a CURVE key", daemon);
	if (load(directory, daemon, "pub", had, &unread) == 0 && strcmp(had, public) == 0)
		return 0;
	snprintf(name, sizeof name, "%s.pub", daemon);
	return fdio_store(directory, name, public, strlen(public), 0644, e);
}

int
keys_make(const char *path, struct err *e)
{
	auto_fd int directory = fdio_directory(AT_FDCWD, path, 0700, e);

	if (directory < 0)
		return -1;
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		if (make_secret(directory, edge_peer_name(peer), e) < 0 ||
		    make_public(directory, edge_peer_name(peer), e) < 0)
			return -1;
	return 0;
}
