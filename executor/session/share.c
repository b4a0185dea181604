/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - one rule on two levels: all together have a limit, and of what is left of it nobody
 * gets more than stays for all others, so that whoever comes later finds something.
 *
 * Trusts nobody to end what is not used; pools are nobody's, empty, and bounded by themselves.
 */
#include "executor/session/share.h"
#include "executor/run/limits.h"

#include "executor/options.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <string.h>

enum {
	/* A file without a byte takes this of the kernel's memory: an inode and a name. */
	FILE_BYTES = 1024,
};

/* A principal; exists while it has anything. */
struct holder {
	struct holder *next;
	char *principal;
	uint64_t bytes;
};

static struct {
	struct holder *holders;
	uint64_t bytes; /* of them all */
} shares;

static struct holder **
find(const char *principal)
{
	struct holder **at = &shares.holders;

	while (*at != NULL && strcmp((*at)->principal, principal) != 0)
		at = &(*at)->next;
	return at;
}

static uint64_t
bytes_of(const struct workspace_limits *limits)
{
	return limits->bytes + limits->files * FILE_BYTES;
}

/* Of one that has `mine`, where all have `used`. */
static uint64_t
most(uint64_t mine, uint64_t used)
{
	uint64_t all = options.all_workspaces_mb * LIMITS_MIB;
	uint64_t each = options.all_workspaces_mb_each * LIMITS_MIB;
	uint64_t left = all > used ? all - used : 0;

	if (each == 0)
		return mine + (left > mine ? (left - mine) / 2 : 0);
	return each < mine + left ? each : mine + left;
}

/* More than there would be if its sessions ended is another fault. */
static int
refuse(uint64_t mine, uint64_t bytes, struct err *e)
{
	bool ends_help = bytes <= most(0, shares.bytes - mine);

	return err_set(e, ends_help ? ERR_session_limit : ERR_limit_exceeded,
	    "your workspaces may hold %" PRIu64 " MiB, this one %" PRIu64 " more, and %" PRIu64
	    " are the most now (all: %" PRIu64 " of %" PRIu64 "): %sset a lower max_disk_mb",
	    mine / LIMITS_MIB, bytes / LIMITS_MIB, most(mine, shares.bytes) / LIMITS_MIB,
	    shares.bytes / LIMITS_MIB, options.all_workspaces_mb,
	    ends_help ? "end a session by terminate_session, or " : "");
}

int
share_take(struct share *share, const char *principal, const struct workspace_limits *limits,
    struct err *e)
{
	const struct holder *holder = *find(principal);
	uint64_t mine = holder != NULL ? holder->bytes : 0, bytes = bytes_of(limits);

	if (mine + bytes > most(mine, shares.bytes))
		return refuse(mine, bytes, e);
	share_keep(share, principal, limits);
	return 0;
}

void
share_keep(struct share *share, const char *principal, const struct workspace_limits *limits)
{
	struct holder **at = find(principal);

	must(share->holder == NULL);
	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		must(*at != NULL && ((*at)->principal = strdup(principal)) != NULL);
	}
	*share = (struct share){ *at, bytes_of(limits) };
	share->holder->bytes += share->bytes;
	shares.bytes += share->bytes;
}

void
share_drop(struct share *share)
{
	struct holder *holder = take_ptr(share->holder), **at;

	if (holder == NULL)
		return;
	holder->bytes -= share->bytes;
	shares.bytes -= share->bytes;
	if (holder->bytes > 0)
		return;
	at = find(holder->principal);
	*at = holder->next;
	free(holder->principal);
	free(holder);
}

struct workspaces_info
share_of(const char *principal)
{
	const struct holder *holder = *find(principal);
	uint64_t mine = holder != NULL ? holder->bytes : 0;

	return (struct workspaces_info){ mine, most(mine, shares.bytes) };
}
