/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.h - the type of a provider of tools, prompts, resources, completions or tasks.
 *
 * providers.c has the list of providers and the handlers that walk it.  A provider includes this
 * header and not providers.h, so that the list depends on its providers and never the reverse.
 */
#pragma once

#include "gateway/mcp/method.h"

/* The lists of a server. */
enum provider_list {
	PROVIDER_tools,
	PROVIDER_prompts,
	PROVIDER_resources,
	PROVIDER_templates,
	PROVIDER_LISTS,
};

/* Requests that name one object. */
enum provider_request {
	PROVIDER_call,              /* tools/call: a tool */
	PROVIDER_get,               /* prompts/get: a prompt */
	PROVIDER_read,              /* resources/read: a URI of at most URI_MAX bytes */
	PROVIDER_complete_prompt,   /* completion/complete: a prompt */
	PROVIDER_complete_template, /* completion/complete: the URI of a template */
	PROVIDER_get_task,          /* tasks/get: an id, as in the next two */
	PROVIDER_update_task,       /* tasks/update: params.inputResponses is an object */
	PROVIDER_cancel_task,       /* tasks/cancel */
	PROVIDER_REQUESTS,
};

/* Each member may be NULL. */
struct provider {
	/* A new reference to an array, in the form of that revision, of what is permitted to the
	 * client; NULL: all.  The caller must not modify the array. */
	json_t *(*lists[PROVIDER_LISTS])(const struct revision *, const struct client *);
	/* Whether that list changes while the gateway runs. */
	bool changes[PROVIDER_LISTS];
	/* false: the object is not of this provider.  true: *answer is the whole answer, or NULL if
	 * it is pending.  params.arguments of a call or a prompt is an object or absent, and
	 * params.argument of a completion has the texts name and value.  See method.h; elicit.h for
	 * how to ask the client; logging.h; listen.h for changes. */
	bool (*requests[PROVIDER_REQUESTS])(
	    const struct request *, const char *name, json_t **answer);
	/* Whether that account has the task, if that is known without a message to a daemon. */
	bool (*has_task)(const struct account *, const char *id);
};
