/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method.h - a request as handlers see it, and the functions that build their answers.
 */
#pragma once

#include "gateway/mcp/sealed.h"
#include "gateway/transport/client.h"

struct method;

/* All members are borrowed, and are valid while the handler runs. */
struct request {
	struct origin origin;
	const struct method *method;
	json_t *params, *meta; /* objects, or NULL */
	json_t *capabilities;  /* of the client, an object; NULL: none */
	json_t *inputs;        /* the client's answers to questions, by key; see elicit.h */
	struct sealed_use use; /* of the requestState that carried the inputs; "": none */
	size_t bytes;          /* size of the message that contains the request */
};

/* Whether, for how long and by which caches a result may be kept (2026-07-28,
 * utilities/caching). */
struct cache {
	int ttl_ms;
	const char *scope; /* "public" or "private"; NULL: not cacheable */
};

struct method {
	const char *name;
	unsigned revisions; /* bits of struct revision, and REVISION_FIRST */
	/* Returns the whole answer, or NULL: it is pending. */
	json_t *(*handle)(const struct request *);
	/* The scopes (auth/scope.h) that a request with these params needs. */
	unsigned (*scopes)(const json_t *params);
	const char *member; /* the member of params that the header Mcp-Name repeats; NULL: none */
	struct cache cache;
	const char *capability, *flag; /* that a server with this method announces; NULL: none */
};

/* Whether the client has declared a capability, e.g. "elicitation", or "extensions" and the name
 * of an extension. */
bool method_declared(const struct request *, const char *capability, const char *extension);

/* The description of this server, as that revision defines it. */
json_t *method_server_info(const struct revision *);
/* Takes a result and adds the members that every result of that revision has, and with a cache
 * policy (not NULL) its lifetime.  An existing resultType or _meta is kept. */
json_t *method_end(const struct revision *, json_t *result, const struct cache *);
/* Takes the result and adds what revision and method require. */
json_t *method_finish(const struct request *, json_t *result);
/* The JSON-RPC answer with that result. */
json_t *method_complete(const struct request *, json_t *result);
/* The same with its own cache policy, for example that of a single resource. */
json_t *method_complete_for(const struct request *, json_t *result, const struct cache *);
/* Refuses with -32602; the text names the parameter. */
json_t *method_refuse(const struct request *, const char *fmt, ...) PRINTF(2, 3);
/* Refuses with -32021, or in revisions without that code -32600.  Takes capabilities: those that
 * the client must declare. */
json_t *method_lacks(const struct request *, json_t *capabilities);
/* params[name] if it is a text without a zero byte; otherwise NULL, and *answer is a refusal. */
const char *method_text(const struct request *, const char *name, json_t **answer);
