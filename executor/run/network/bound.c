/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.c - a request that is open as long as the network of its run.  Trusts secretd for the names
 * and the certificate, whose authority it alone has.
 */
#include "executor/run/network/bound.h"

#include "executor/run/network/domains.h"
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/domain.h"
#include "common/base/log.h"
#include "common/base/loop.h"

#include <stdio.h>
#include <string.h>

enum {
	SERVE_MS = 5000,
	HTTPS = 443,
};

/* ---- names ---- */

static bool
is_reached(const struct texts *domains, const char *host, struct domain *name)
{
	const struct texts one = { (char *[]){ (char *)(uintptr_t)host }, 1 };
	struct err ignored;

	return domain_read(host, name, &ignored) == 0 && !name->wild &&
	       (name->port == 0 || name->port == HTTPS) && domains_reach(domains, &one);
}

/* names NULL: are there any?  Returns how many; -1: no memory. */
static int
collect(const struct texts *domains, struct texts *names)
{
	struct domain name;
	int n = 0;

	for (int kind = 0; kind < INDEX_debian; kind++) {
		const struct texts *hosts = index_hosts_of((enum index_kind)kind);

		for (size_t i = 0; i < hosts->count; i++) {
			if (!is_reached(domains, hosts->items[i], &name))
				continue;
			if (names != NULL && texts_add(names, name.name) < 0)
				return -1;
			n++;
		}
	}
	return n;
}

bool
bound_wanted(const struct texts *domains)
{
	return collect(domains, NULL) > 0;
}

/* ---- the request ---- */

static void
tell(struct bound *bound, const struct err *e)
{
	void (*then)(void *, const struct err *) = take_ptr(bound->then);

	loop_unset(bound->timer);
	bound->timer = 0;
	if (then != NULL)
		then(bound->self, e);
}

/* secretd hangs; served() is called. */
static void
late(void *self)
{
	struct bound *bound = self;

	bound->timer = 0;
	bus_cancel(bound->asked);
}

/* "NAME NAME ...", a line feed, and the certificate. */
static int
read_part(struct bound *bound, const char *text)
{
	const char *end = strchr(text, '\n');
	auto_free char *names = end != NULL ? strndup(text, (size_t)(end - text)) : NULL;
	char *rest = NULL;

	if (names == NULL)
		return -1;
	for (char *name = strtok_r(names, " ", &rest); name != NULL;
	     name = strtok_r(NULL, " ", &rest))
		if (texts_add(&bound->names, name) < 0)
			return -1;
	bound->certificate = strdup(end + 1);
	return bound->certificate != NULL && bound->names.count > 0 ? 0 : -1;
}

static void
came(void *self, const struct stream_part *part)
{
	struct bound *bound = self;
	struct err e;

	if (bound->certificate != NULL || part->text.data == NULL)
		return;
	snprintf(bound->instance, sizeof bound->instance, "%s", bus_asked(bound->asked));
	if (read_part(bound, part->text.data) == 0) {
		tell(bound, NULL);
		return;
	}
	err_set(&e, ERR_unavailable, "secretd does not say which names have credentials");
	tell(bound, &e);
}

/* Without a part: none of the names has credentials.  Later: secretd was lost, and egress refuses
 * connections to them. */
static void
served(void *self, void *reply, const struct err *e)
{
	struct bound *bound = self;
	struct err why;

	bound->asked = 0;
	if (bound->then == NULL && reply == NULL && e->code != ERR_cancelled)
		log_warn("the credentials of a run were lost", LOG_E(e));
	if (reply != NULL) {
		tell(bound, NULL);
		return;
	}
	err_set(&why, ERR_unavailable, "secretd does not serve this run: %.120s", e->text);
	tell(bound, &why);
}

int
bound_begin(struct bound *bound, const char *run, const struct texts *domains,
    const struct owner *owner, void (*then)(void *self, const struct err *e), struct err *e)
{
	struct serve_bound request = { .run = (char *)(uintptr_t)run };

	bound->then = then;
	if (collect(domains, &request.names) < 0)
		err_sys(e, "names");
	else
		bound->asked = bus_ask(&(struct ask){ .to = PEER_secretd,
					   .message = MSG_serve_bound,
					   .request = &request,
					   .owner = owner,
					   .self = bound,
					   .part = came,
					   .done = served },
		    e);
	texts_clear(&request.names);
	if (bound->asked == 0)
		return -1;
	bound->timer = loop_after(SERVE_MS, late, bound);
	return 0;
}

bool
bound_has(const struct bound *bound, const char *name, uint64_t port)
{
	for (size_t i = 0; port == HTTPS && i < bound->names.count; i++)
		if (strcmp(bound->names.items[i], name) == 0)
			return true;
	return false;
}

void
bound_drop(struct bound *bound)
{
	bound->then = NULL;
	loop_unset(bound->timer);
	bound->timer = 0;
	if (bound->asked != 0)
		bus_cancel(bound->asked);
	texts_clear(&bound->names);
	free(bound->certificate);
	bound->certificate = NULL;
}
