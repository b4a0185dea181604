/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - the table of routes, and pages for monitoring. */
#include "gateway/transport/http/http.h"

#include "gateway/auth/auth.h"
#include "gateway/auth/challenge.h"
#include "gateway/auth/denial.h"
#include "gateway/compat/job.h"
#include "gateway/compat/rest.h"
#include "gateway/mcp/links.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/transport/http/events.h"
#include "gateway/transport/http/files.h"
#include "gateway/transport/http/guard.h"
#include "gateway/transport/http/mcp.h"
#include "gateway/transport/http/metrics.h"
#include "gateway/transport/http/session.h"
#include "gateway/transport/http/sse.h"
#include "gateway/transport/http/state.h"
#include "gateway/transport/http/web.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/bus/bus.h"

#include <stdio.h>
#include <string.h>

#define RESOURCE "/.well-known/oauth-protected-resource"

enum {
	SWEEP_MS = 1000,
};

static uint64_t sweeping;

static void
on_healthz(struct http_request *r)
{
	request_say(r, MHD_HTTP_OK, "text/plain", "ok\n", NULL);
}

/* Why an offered tool has no daemon that can do its work; NULL: each has one. */
static const char *
lacks(void)
{
	const char *why = NULL;

	for (int id = MSG_none + 1; id < MSG_COUNT && why == NULL; id++)
		if (messages[id].title != NULL && tools_find(messages[id].name) != MSG_none)
			why = bus_lacks(messages[id].server);
	return why;
}

static void
on_readyz(struct http_request *r)
{
	const char *why = web_state.draining ? "ending" : lacks();
	char text[128];
	int n = snprintf(text, sizeof text, "%s\n", why != NULL ? why : "ready");

	request_reply(r, why != NULL ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK, "text/plain",
	    strdup(text), (size_t)n, NULL);
}

/* Totals over all principals need a scope that no credential has unless it is named. */
static void
on_metrics(struct http_request *r)
{
	size_t size = 0;

	if (!guard_allows(r, 1U << scope_metrics))
		return;

	char *text = metrics_text(&size);

	request_reply(r, MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8",
	    text, size, NULL);
}

/* Served without credentials: clients learn from it where to get a token (RFC 9728). */
static void
on_resource(struct http_request *r)
{
	const char *document = challenge_document(), *path = challenge_path();

	if (document != NULL &&
	    (*r->path == '\0' || strcmp(path + sizeof RESOURCE - 1, r->path - 1) == 0))
		request_say(r, MHD_HTTP_OK, "application/json", document, NULL);
	else
		request_say(r, MHD_HTTP_NOT_FOUND, "text/plain", "not found\n", NULL);
}

static const struct http_route routes[] = {
	{ "GET", RESOURCE, true, false, on_resource, NULL },
	{ "GET", RESOURCE "/", true, false, on_resource, NULL },
	{ "OPTIONS", RESOURCE, true, false, mcp_options, NULL },
	{ "OPTIONS", RESOURCE "/", true, false, mcp_options, NULL },
	{ "POST", "/mcp", false, true, mcp_post, NULL },
	{ "GET", "/mcp", false, false, mcp_get, NULL },
	{ "DELETE", "/mcp", false, false, mcp_delete, NULL },
	{ "OPTIONS", "/mcp", true, false, mcp_options, NULL },
	{ "GET", "/files/", true, false, files_get, NULL },
	{ "GET", "/events", false, false, events_get, NULL },
	{ "GET", "/healthz", true, false, on_healthz, NULL },
	{ "GET", "/readyz", true, false, on_readyz, NULL },
	{ "GET", "/metrics", false, false, on_metrics, NULL },
};

/* Also with transport sse. */
static const struct http_route old_routes[] = {
	{ "GET", "/sse", false, false, sse_get, NULL },
	{ "OPTIONS", "/sse", true, false, mcp_options, NULL },
	{ "POST", "/messages", false, true, sse_post, NULL },
	{ "OPTIONS", "/messages", true, false, mcp_options, NULL },
};

int
http_open(struct err *e)
{
	if (web_open(e) < 0 || guard_open(e) < 0)
		return -1;
	return links_open(e);
}

static void
sweep(void *unused)
{
	(void)unused;
	session_sweep(loop_now_ms());
	sweeping = loop_after(SWEEP_MS, sweep, NULL);
}

int
http_start(struct err *e)
{
	static struct http_route served[COUNT(routes) + COUNT(old_routes) + REST_ROUTES + 1];
	size_t n = COUNT(routes);

	memcpy(served, routes, sizeof routes);
	if (strcmp(options.transport, "sse") == 0)
		memcpy(served + n, old_routes, sizeof old_routes), n += COUNT(old_routes);
	rest_routes(served + n);
	denial_start();
	sweeping = loop_after(SWEEP_MS, sweep, NULL);
	return web_start(served, e);
}

size_t
http_drain(void)
{
	exchange_drain();
	events_drain();
	session_drain();
	job_drain();
	return web_drain();
}

void
http_stop(void)
{
	loop_unset(sweeping);
	session_end_all();
	job_close();
	web_stop();
	auth_close();
}
