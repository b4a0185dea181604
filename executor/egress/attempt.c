/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c - tells each attempt in a part of the call that is open as long as the network.  Trusts
 * nobody: programs choose the names, within the form of a name. */
#include "executor/egress/attempt.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <string.h>

/* A part that is dropped, because the executor is slow, is not lost: the report has it. */
static void
tell(struct attempt *attempt, struct call *call)
{
	struct stream_part part = { .channel = channel_progress };
	char *text;
	int n = asprintf(&text, "%s %u %s%s%s", attempt->refused != NULL ? "refused" : "used",
	    (unsigned)attempt->port, attempt->name, attempt->refused != NULL ? " " : "",
	    attempt->refused != NULL ? attempt->refused : "");

	if (n < 0)
		return;
	part.text = (struct blob){ text, (size_t)n };
	attempt->told = call_stream(call, &part) == 0;
}

static struct attempt *
add(struct attempt *list, size_t *count, size_t room, const char *name, uint16_t port,
    const char *why)
{
	struct attempt *attempt;

	if (*count == room)
		return NULL;
	attempt = &list[(*count)++];
	*attempt = (struct attempt){ .port = port, .refused = why };
	memcpy(attempt->name, name, strlen(name) + 1);
	return attempt;
}

struct attempt *
attempt_use(struct attempts *all, struct call *call, const char *name, uint16_t port)
{
	struct attempt *attempt;

	for (size_t i = 0; i < all->nused; i++)
		if (all->used[i].port == port && strcmp(all->used[i].name, name) == 0)
			return &all->used[i];
	attempt = add(all->used, &all->nused, ATTEMPTS_USED, name, port, NULL);
	if (attempt != NULL)
		tell(attempt, call);
	return attempt;
}

void
attempt_refuse(
    struct attempts *all, struct call *call, const char *name, uint16_t port, const char *why)
{
	struct attempt *attempt;

	for (size_t i = 0; i < all->nrefused; i++) {
		attempt = &all->refused[i];
		if (attempt->port == port && attempt->refused == why &&
		    strcmp(attempt->name, name) == 0)
			return;
	}
	attempt = add(all->refused, &all->nrefused, ATTEMPTS_REFUSED, name, port, why);
	if (attempt != NULL)
		tell(attempt, call);
	else
		all->more++;
}

static int
copy(const struct attempt *attempt, struct network_report *report)
{
	struct network_attempt *out = &report->attempts.items[report->attempts.count++];

	*out = (struct network_attempt){
		.name = strdup(attempt->name),
		.port = attempt->port,
		.refused = attempt->refused != NULL ? strdup(attempt->refused) : NULL,
		.connections = attempt->connections,
		.bytes_in = attempt->bytes_in,
		.bytes_out = attempt->bytes_out,
		.told = attempt->told,
	};
	return out->name == NULL || (attempt->refused != NULL && out->refused == NULL) ? -1 : 0;
}

int
attempt_report(const struct attempts *all, struct network_report *report)
{
	report->more = all->more;
	report->attempts.items =
	    calloc(all->nused + all->nrefused + 1, sizeof *report->attempts.items);
	if (report->attempts.items == NULL)
		return -1;
	for (size_t i = 0; i < all->nrefused; i++)
		if (copy(&all->refused[i], report) < 0)
			return -1;
	for (size_t i = 0; i < all->nused; i++)
		if (copy(&all->used[i], report) < 0)
			return -1;
	return 0;
}
