/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c - one directory per edge; its mode lets exactly that pair enter.
 *
 * Trusts the path to the run directory, which root or the user made. A directory that others can
 * write to, or a symlink in its place, is refused. All of this runs before the jail, which permits
 * neither name service nor open(2).
 */
#include "common/bus/endpoint.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

enum {
	RESOLVE_EACH_MS = 200,
};

bool
endpoint_is_name(const char *name)
{
	size_t size = strlen(name);

	for (const char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && strchr("_-.", *c) == NULL)
			return false;
	return size > 0 && size <= 64 && *name != '.';
}

/* ---- directories ---- */

static int
open_owned(int dir, const char *path, struct err *e)
{
	auto_fd int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %s", path);
	if ((st.st_mode & 022) != 0)
		return err_set(e, ERR_denied, "%s: others can write to it", path);
	return take_fd(&fd);
}

static int
run_directory(const struct bus_config *c, struct err *e)
{
	bool made = mkdir(c->run, 0700) == 0;

	if (!made && errno != EEXIST)
		return err_sys(e, "make %s", c->run);
	auto_fd int fd = open_owned(AT_FDCWD, c->run, e);
	struct stat st;
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
		return err_set(e, ERR_denied, "%s: belongs to another user", c->run);
	if (made && c->apart && fchmod(fd, 0755) < 0)
		return err_sys(e, "chmod %s", c->run);
	return take_fd(&fd);
}

static int
give_to_pair(int fd, const struct bus_config *c, const struct edge *edge, struct err *e)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof name, "cloister-%s", edge->name);
	const struct group *group = getgrnam(name);
	if (group == NULL)
		return err_set(e, ERR_unavailable, "no group %s; run compose/install-deps", name);
	/* The setgid bit gives sockets the directory's group, so the jail needs no chgrp. */
	if (fchown(fd, c->uid, group->gr_gid) < 0 || fchmod(fd, 02710) < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "set the group of %s", edge->name);
	/* The kernel drops the bit silently if the process may not set it. */
	if ((st.st_mode & S_ISGID) == 0)
		return err_set(
		    e, ERR_unavailable, "set the group of %s: needs CAP_FSETID", edge->name);
	return 0;
}

int
endpoint_directory(const struct bus_config *c, const struct edge *edge, struct err *e)
{
	auto_fd int run = run_directory(c, e);

	if (run < 0)
		return -1;
	if (mkdirat(run, edge->name, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make %s/%s", c->run, edge->name);
	auto_fd int fd = open_owned(run, edge->name, e);
	if (fd < 0 || (c->apart && give_to_pair(fd, c, edge, e) < 0))
		return -1;
	return take_fd(&fd);
}

int
endpoint_uid(const struct bus_config *c, enum peer peer, uid_t *uid, struct err *e)
{
	char name[64];

	*uid = geteuid();
	if (!c->apart)
		return 0;
	snprintf(name, sizeof name, "cloister-%s", edge_peer_name(peer));
	const struct passwd *user = getpwnam(name);
	if (user == NULL)
		return err_set(e, ERR_unavailable, "no user %s; run compose/install-deps", name);
	*uid = user->pw_uid;
	return 0;
}

int
endpoint_ipc(const char *run, const struct edge *edge, const char *instance,
    char out[ENDPOINT_BYTES], struct err *e)
{
	int n = snprintf(out, ENDPOINT_BYTES, "ipc://%s/%s/%s", run, edge->name, instance);

	if (n >= ENDPOINT_BYTES ||
	    (size_t)n - strlen("ipc://") >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(e, ERR_invalid_argument,
		    "%s/%s/%s: over 107 bytes, too long for a unix socket", run, edge->name,
		    instance);
	return 0;
}

/* ---- addresses ---- */

static int
look_up(const char *host, const char *port, int64_t wait_ms, struct addrinfo **found, struct err *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	int64_t until = loop_now_ms() + wait_ms;
	int rc;

	/* Containers of a set start in any order, and a name can be resolved only when its
	 * container runs. */
	while ((rc = getaddrinfo(host, port, &hints, found)) != 0 && loop_now_ms() < until)
		nanosleep(&(struct timespec){ .tv_nsec = RESOLVE_EACH_MS * 1000000L }, NULL);
	if (rc == 0)
		return 0;
	return err_set(e, ERR_unavailable, "look up %s: %s", host, gai_strerror(rc));
}

static int
add_address(const struct addrinfo *a, struct texts *out, struct err *e)
{
	char host[64], port[8], text[96];

	if (getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return err_set(e, ERR_internal, "cannot format an address");
	snprintf(
	    text, sizeof text, strchr(host, ':') ? "tcp://[%s]:%s" : "tcp://%s:%s", host, port);
	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->items[i], text) == 0)
			return 0;
	return texts_add(out, text) < 0 ? err_sys(e, "endpoints") : 0;
}

/* A name with several addresses, such as a headless service, means several instances. */
static int
add_tcp(const struct bus_config *c, const char *text, struct texts *out, struct err *e)
{
	char host[ENDPOINT_BYTES];
	const char *port = strrchr(text, ':');
	struct addrinfo *found;
	int rc = 0;

	if (port == NULL || port == text)
		return err_set(e, ERR_invalid_argument, "tcp://%s: host:port required", text);
	bool bracket = *text == '[' && port[-1] == ']';
	snprintf(host, sizeof host, "%.*s", (int)(port - text) - 2 * bracket, text + bracket);
	if (look_up(host, port + 1, c->connect_wait_ms, &found, e) < 0)
		return -1;
	for (const struct addrinfo *a = found; a != NULL && rc == 0; a = a->ai_next)
		rc = add_address(a, out, e);
	freeaddrinfo(found);
	return rc;
}

static int
add_endpoint(
    const struct bus_config *c, enum peer to, const char *text, struct texts *out, struct err *e)
{
	char path[ENDPOINT_BYTES];

	if (strncmp(text, "tcp://", 6) == 0)
		return add_tcp(c, text + 6, out, e);
	if (strncmp(text, "ipc://", 6) == 0)
		return texts_add(out, text) < 0 ? err_sys(e, "endpoints") : 0;
	if (!endpoint_is_name(text))
		return err_set(e, ERR_invalid_argument,
		    "connect_%s: '%.64s' is not tcp://host:port, ipc:///path or an instance",
		    edge_peer_name(to), text);
	if (endpoint_ipc(c->run, edge_find(c->self, to), text, path, e) < 0)
		return -1;
	return texts_add(out, path) < 0 ? err_sys(e, "endpoints") : 0;
}

int
endpoint_list(const struct bus_config *c, enum peer to, struct texts *out, struct err *e)
{
	const char *at = c->connect[to];
	char one[ENDPOINT_BYTES];

	if (at == NULL || *at == '\0')
		at = "1";
	while (*(at += strspn(at, ", ")) != '\0') {
		size_t size = strcspn(at, ", ");

		if (size >= sizeof one)
			return err_set(e, ERR_invalid_argument, "connect_%s: over %d bytes",
			    edge_peer_name(to), ENDPOINT_BYTES - 1);
		memcpy(one, at, size);
		one[size] = '\0';
		if (add_endpoint(c, to, one, out, e) < 0)
			return -1;
		at += size;
	}
	return 0;
}
