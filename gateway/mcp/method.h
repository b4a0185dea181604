/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - a request as handlers see it, and what they answer with.
 */
#pragma once

#include "gateway/mcp/sealed.h"
#include "gateway/transport/client.h"

struct method;

/* All of it is borrowed, and lasts as long as the handler runs. */
struct request {
	struct origin origin;
	const struct method *method;
	json_t *params, *meta; /* objects, or NULL */
	json_t *capabilities;  /* of the client, an object; NULL: none */
	json_t *inputs; /* what the client was asked for it and answered, by key; see elicit.h */
	struct sealed_use use; /* of the requestState that these came by; "": none */
	size_t bytes;          /* that the message it came in takes */
};

/* Whether and for how long a result may be kept, and by whom (2026-07-28, utilities/caching). */
struct cache {
	int ttl_ms;
	const char *scope; /* "public" or "private"; NULL: it may not */
};

struct method {
	const char *name;
	unsigned revisions; /* bits of struct revision, and REVISION_FIRST */
	/* The whole answer, or NULL: it is pending. */
	json_t *(*handle)(const struct request *);
	/* Of auth/scope.h: what a request with these params needs. */
	unsigned (*scopes)(const json_t *params);
	const char *member; /* of params, that the header Mcp-Name repeats; NULL: there is none */
	struct cache cache;
};

/* Has the client declared it?  As in "elicitation", or "extensions" and the name of one. */
bool method_declared(const struct request *, const char *capability, const char *extension);

/* Who answers, as that revision describes it. */
json_t *method_server_info(const struct revision *);
/* Takes a result and gives it what every result of that revision has; with a cache policy (not
 * NULL) how long it holds, too.  A resultType or _meta that is there already stays. */
json_t *method_end(const struct revision *, json_t *result, const struct cache *);
/* The result, which is taken, with what revision and method add to it. */
json_t *method_finish(const struct request *, json_t *result);
/* The answer with it. */
json_t *method_complete(const struct request *, json_t *result);
/* The same with a cache policy of its own, as of what a single resource is worth. */
json_t *method_complete_for(const struct request *, json_t *result, const struct cache *);
/* -32602; names the parameter. */
json_t *method_refuse(const struct request *, const char *fmt, ...) PRINTF(2, 3);
/* -32021, or in revisions without it -32600: capabilities, taken, is what the client would have to
 * declare. */
json_t *method_lacks(const struct request *, json_t *capabilities);
/* params[name] where it is a text without zero byte; else NULL and in *answer a refusal. */
const char *method_text(const struct request *, const char *name, json_t **answer);
