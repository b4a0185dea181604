/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.c - a table by owner.
 *
 * It has a row for each owner that was admitted recently.  A refused principal gets no row.
 */
#include "gateway/transport/account.h"

#include "gateway/options.h"

#include "common/base/auto.h"
#include "common/base/loop.h"

#include <string.h>

enum {
	BUCKETS = 256,
	BURST_MS = 10000,
};

struct row {
	struct account account; /* first: the part that other files see */
	struct row *next;
	size_t holders;
	double tokens; /* of the bucket, which is refilled at rate_per_s */
	int64_t filled_ms;
	/* Of the policy's limit: when the calls so far would have come, had each kept its distance.
	 */
	double calls_ms;
};

static struct row *table[BUCKETS];

static size_t
bucket_of(const char *principal)
{
	uint32_t hash = 2166136261;

	for (; *principal != '\0'; principal++)
		hash = (hash ^ (unsigned char)*principal) * 16777619;
	return hash % BUCKETS;
}

static struct row *
make(const struct owner *owner)
{
	struct row *row = calloc(1, sizeof *row);

	if (row == NULL)
		return NULL;
	*row = (struct row){ .account = { .owner = *owner },
		.tokens = (double)options.rate_burst,
		.filled_ms = loop_now_ms() };
	return row;
}

struct account *
account_hold(const struct owner *owner)
{
	struct row **first = &table[bucket_of(owner->principal)], *row = *first;

	while (row != NULL && !owner_equal(&row->account.owner, owner))
		row = row->next;
	if (row == NULL) {
		row = make(owner);
		if (row == NULL)
			return NULL;
		row->next = *first;
		*first = row;
	}
	row->holders++;
	return &row->account;
}

struct account *
account_share(struct account *account)
{
	((struct row *)account)->holders++;
	return account;
}

void
account_release(struct account *account)
{
	if (account != NULL)
		((struct row *)account)->holders--;
}

static void
fill(struct row *row, int64_t now_ms)
{
	row->tokens += (double)(now_ms - row->filled_ms) * (double)options.rate_per_s / 1000;
	if (row->tokens > (double)options.rate_burst)
		row->tokens = (double)options.rate_burst;
	row->filled_ms = now_ms;
}

int64_t
account_wait_ms(struct account *account, int64_t now_ms)
{
	struct row *row = (struct row *)account;

	if (options.rate_per_s == 0)
		return 0;
	fill(row, now_ms);
	if (row->tokens < 1)
		return (int64_t)((1 - row->tokens) * 1000 / (double)options.rate_per_s) + 1;
	row->tokens -= 1;
	return 0;
}

void
account_charge(struct account *account, size_t requests, int64_t now_ms)
{
	struct row *row = (struct row *)account;

	fill(row, now_ms);
	row->tokens -= (double)requests;
}

int64_t
account_call_wait_ms(struct account *account, uint64_t calls_per_minute, int64_t now_ms)
{
	struct row *row = (struct row *)account;
	double each_ms = 60000.0 / (double)calls_per_minute, now = (double)now_ms;
	double ahead_ms = each_ms > BURST_MS ? 0 : BURST_MS - each_ms;

	if (row->calls_ms < now)
		row->calls_ms = now;
	if (row->calls_ms > now + ahead_ms)
		return (int64_t)(row->calls_ms - now - ahead_ms) + 1;
	row->calls_ms += each_ms;
	return 0;
}

int
account_admit(const struct account *account, size_t bytes, struct err *e)
{
	if (account->count >= options.max_in_flight)
		err_set(e, ERR_queue_full, "%zu calls are in progress, the limit (max_in_flight)",
		    account->count);
	else if (account->count > 0 && account->held + bytes > 2 * options.max_message_bytes)
		err_set(e, ERR_queue_full,
		    "messages of calls in progress have %zu bytes; with %zu more they are over the "
		    "limit of %zu",
		    account->held, bytes, 2 * (size_t)options.max_message_bytes);
	else
		return 0;
	e->retry_ms = ACCOUNT_RETRY_MS;
	return -1;
}

size_t
account_room(size_t mine, size_t limit, size_t used)
{
	size_t left = limit > used ? limit - used : 0;

	if (options.anonymous)
		return left;
	return left > mine ? (left - mine + 1) / 2 : 0;
}

/* Whether it still owns anything. */
static bool
is_used(const struct row *row)
{
	const struct account *a = &row->account;

	return row->holders > 0 || a->count > 0 || a->connections > 0 || a->sessions > 0 ||
	       a->bodies > 0 || a->waiting > 0 || a->listening > 0;
}

void
account_sweep(int64_t now_ms)
{
	for (struct row **bucket = table; bucket < table + BUCKETS; bucket++)
		for (struct row **at = bucket; *at != NULL;) {
			struct row *row = *at;

			fill(row, now_ms);
			if (is_used(row) || row->calls_ms > (double)now_ms ||
			    (options.rate_per_s > 0 && row->tokens < (double)options.rate_burst)) {
				at = &row->next;
				continue;
			}
			*at = row->next;
			free(row);
		}
}
