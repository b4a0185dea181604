/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c - the same rule for both kinds: all principals together have a limit.  Of what remains,
 * no principal gets more than is left for all others, so that a later principal finds something.
 *
 * The memory of boxes is not limited for a principal that has been alone since the start, because
 * it can only hurt itself.  Once there is another one, the first counts with at most what the rule
 * would have given it, so that the other finds something.
 *
 * Does not rely on principals to end what they no longer use.  Prepared boxes of the pool are not
 * counted here: they are empty, belong to no principal, and are bounded by the pool.
 */
#include "executor/session/share.h"
#include "executor/run/limits.h"
#include "executor/sandbox/workspace.h"

#include "executor/builder/limits/memory.h"
#include "executor/options.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <string.h>

enum {
	/* Kernel memory of an empty file: an inode and a name. */
	FILE_BYTES = 1024,
};

static const struct row {
	const uint64_t *all_mb, *each_mb;
	const char *what, *setting, *field;
	bool shared_only; /* one principal alone has no limit */
	bool spares;      /* sessions leave room for one run with the default limits */
} rows[SHARES] = {
	[SHARE_WORKSPACES] = { &options.all_workspaces_mb, &options.all_workspaces_mb_each,
	    "workspaces", "all_workspaces_mb", "max_disk_mb", false, false },
	[SHARE_MEMORY] = { &options.all_memory_mb, &options.all_memory_mb_each, "programs",
	    "all_memory_mb", "max_ram_mb", true, true },
};

/* A principal; exists while it holds anything. */
struct holder {
	struct holder *next;
	char *principal;
	uint64_t bytes[SHARES];
};

static struct {
	struct holder *holders;
	char *first; /* the principal that came first */
	bool shared; /* a second one came */
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
held_by(enum share_kind kind, const char *principal)
{
	const struct holder *holder = *find(principal);

	return holder != NULL ? holder->bytes[kind] : 0;
}

uint64_t
share_of_workspace(const struct workspace_limits *limits)
{
	return limits->bytes + limits->files * FILE_BYTES;
}

/* The limit that the builder sets for the box's cgroup (builder/limits/cgroup.c). */
uint64_t
share_of_box(const struct limits *limits)
{
	return limits->box.memory_bytes + limits->box.tmp_bytes + limits->room.bytes;
}

/* The builder's bound, or what this daemon's own cgroups leave.  On the smallest machine: two
 * boxes for one principal and two for all others. */
int
share_settle(struct err *e)
{
	uint64_t most = memory_most() / 4 * 3 / LIMITS_MIB, each = options.all_memory_mb_each;
	uint64_t box = share_of_box(&limits_default) / LIMITS_MIB;

	if (options.all_memory_mb == 0)
		options.all_memory_mb = most > 4 * box ? most : 4 * box;
	if (each == 0)
		each = options.all_memory_mb / 2;
	if (box <= each)
		return 0;
	return err_set(e, ERR_invalid_argument,
	    "memory_mb, tmp_bytes and workspace_mb together need %" PRIu64
	    " MiB, which is over %s (%" PRIu64 ")",
	    box, options.all_memory_mb_each != 0 ? "all_memory_mb_each" : "half of all_memory_mb",
	    each);
}

/* ---- principals ---- */

static void
note_principal(const char *principal)
{
	if (shares.first == NULL)
		must((shares.first = strdup(principal)) != NULL);
	else if (strcmp(shares.first, principal) != 0)
		shares.shared = true;
}

static bool
is_limited(const struct row *row)
{
	return !row->shared_only || shares.shared || *row->each_mb != 0;
}

void
share_forget(void)
{
	free(take_ptr(shares.first));
	shares.shared = false;
}

/* ---- the rule ---- */

static uint64_t
held_by_others(enum share_kind kind, const char *principal)
{
	const struct row *row = &rows[kind];
	uint64_t bytes = 0, cap = UINT64_MAX;

	if (row->shared_only && *row->each_mb == 0)
		cap = *row->all_mb * LIMITS_MIB / 2;
	for (const struct holder *h = shares.holders; h != NULL; h = h->next)
		if (strcmp(h->principal, principal) != 0)
			bytes += h->bytes[kind] < cap ? h->bytes[kind] : cap;
	return bytes;
}

/* The most that a principal may hold if it holds `mine` and the others hold `others`. */
static uint64_t
most(enum share_kind kind, uint64_t mine, uint64_t others)
{
	const struct row *row = &rows[kind];
	uint64_t all = *row->all_mb * LIMITS_MIB, each = *row->each_mb * LIMITS_MIB;
	uint64_t left = all > mine + others ? all - mine - others : 0;

	if (!is_limited(row))
		return INT64_MAX;
	if (each == 0)
		return mine + (left > mine ? (left - mine) / 2 : 0);
	return each < mine + left ? each : mine + left;
}

static uint64_t
most_for_session(enum share_kind kind, uint64_t mine, uint64_t others)
{
	uint64_t bytes = most(kind, mine, others);
	uint64_t spare = rows[kind].spares ? share_of_box(&limits_default) : 0;

	return bytes > spare ? bytes - spare : 0;
}

/* If it would not fit even without the caller's sessions, that is another error. */
static int
refuse(enum share_kind kind, uint64_t mine, uint64_t others, uint64_t bytes, struct err *e)
{
	const struct row *row = &rows[kind];
	bool ends_help = bytes <= most_for_session(kind, 0, others);

	return err_set(e, ends_help ? ERR_session_limit : ERR_limit_exceeded,
	    "your %s may hold %" PRIu64 " MiB, this one %" PRIu64 " more, and %" PRIu64
	    " are the most now (%s: %" PRIu64 " of %" PRIu64 "): %sset a lower %s",
	    row->what, mine / LIMITS_MIB, bytes / LIMITS_MIB,
	    most_for_session(kind, mine, others) / LIMITS_MIB, row->setting,
	    (mine + others) / LIMITS_MIB, *row->all_mb,
	    ends_help ? "end a session by terminate_session, or " : "", row->field);
}

int
share_take(
    struct share *share, enum share_kind kind, const char *principal, uint64_t bytes, struct err *e)
{
	uint64_t mine = held_by(kind, principal), others = held_by_others(kind, principal);

	note_principal(principal);
	if (mine + bytes > most_for_session(kind, mine, others))
		return refuse(kind, mine, others, bytes, e);
	share_keep(share, kind, principal, bytes);
	return 0;
}

int
share_check(enum share_kind kind, const char *principal, uint64_t bytes, struct err *e)
{
	const struct row *row = &rows[kind];

	note_principal(principal);
	if (bytes <= most(kind, 0, 0))
		return 0;
	return err_set(e, ERR_limit_exceeded,
	    "this program may hold %" PRIu64 " MiB, and %" PRIu64
	    " are the most for one principal (%s: %" PRIu64 "): set a lower %s",
	    bytes / LIMITS_MIB, most(kind, 0, 0) / LIMITS_MIB, row->setting, *row->all_mb,
	    row->field);
}

bool
share_fits(enum share_kind kind, const char *principal, uint64_t bytes)
{
	uint64_t mine = held_by(kind, principal);

	return mine + bytes <= most(kind, mine, held_by_others(kind, principal));
}

/* ---- usage ---- */

void
share_keep(struct share *share, enum share_kind kind, const char *principal, uint64_t bytes)
{
	struct holder **at = find(principal);

	must(share->holder == NULL);
	note_principal(principal);
	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		must(*at != NULL && ((*at)->principal = strdup(principal)) != NULL);
	}
	*share = (struct share){ *at, kind, bytes };
	share->holder->bytes[kind] += bytes;
}

void
share_drop(struct share *share)
{
	struct holder *holder = take_ptr(share->holder), **at;

	if (holder == NULL)
		return;
	holder->bytes[share->kind] -= share->bytes;
	for (size_t i = 0; i < SHARES; i++)
		if (holder->bytes[i] > 0)
			return;
	at = find(holder->principal);
	*at = holder->next;
	free(holder->principal);
	free(holder);
}

int
share_take_session(
    struct share both[SHARES], const char *principal, const struct limits *limits, struct err *e)
{
	if (share_take(&both[SHARE_WORKSPACES], SHARE_WORKSPACES, principal,
		share_of_workspace(&limits->room), e) < 0)
		return -1;
	if (share_take(&both[SHARE_MEMORY], SHARE_MEMORY, principal, share_of_box(limits), e) == 0)
		return 0;
	share_drop(&both[SHARE_WORKSPACES]);
	return -1;
}

void
share_keep_session(struct share both[SHARES], const char *principal, const struct limits *limits)
{
	share_keep(&both[SHARE_WORKSPACES], SHARE_WORKSPACES, principal,
	    share_of_workspace(&limits->room));
	share_keep(&both[SHARE_MEMORY], SHARE_MEMORY, principal, share_of_box(limits));
}

struct workspaces_info
share_of(enum share_kind kind, const char *principal)
{
	uint64_t mine = held_by(kind, principal);

	return (struct workspaces_info){ mine, most(kind, mine, held_by_others(kind, principal)) };
}
