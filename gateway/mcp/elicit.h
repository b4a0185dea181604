/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit.h - asks the client for something while one of its requests is in progress.
 *
 * A handler asks as if the answers had already arrived:
 *
 * 	json_t *answer, *name = NULL;
 * 	const struct question q = { "user_name", "elicitation/create", params };
 *
 * 	if (!elicit(r, &q, 1, &answer))
 * 		return answer;
 * 	name = elicit_content(r, "user_name");
 *
 * If they have not, the handler returns, and runs again from its beginning when they arrive.  In
 * 2026-07-28 the client retries the request (basic/patterns/mrtr).  The answers so far travel in a
 * requestState that only this server can make.  It is bound to principal, method and parameters,
 * and is valid for a quarter of an hour and one retry.  In earlier revisions the gateway sends the
 * client a request on the stream of the client's own request, and runs the handler again with the
 * response.
 *
 * Only tools/call, prompts/get and resources/read may ask.
 */
#pragma once

#include "gateway/mcp/method.h"

struct question {
	const char *key;    /* chosen by the handler, unique within the request */
	const char *method; /* elicitation/create, sampling/createMessage or roots/list */
	json_t *params;     /* taken; NULL: none */
};

/* How long a question of an earlier revision waits: at most elicit_timeout_ms. */
struct patience {
	uint64_t wait_ms;
	json_t *(*late)(const struct request *); /* the answer of the call after that time */
};

/*
 * true: all answers have arrived; the functions below read them.  false: *answer is what the
 * handler returns.  It is a refusal if the client has not declared the capability.  The params of
 * all questions are taken.
 */
bool elicit(const struct request *, const struct question *, size_t count, json_t **answer);

/* The client's answer to that key: the result of the request, an object; borrowed. */
json_t *elicit_result(const struct request *, const char *key);
/* The content of a form, an object, if the user accepted; NULL: declined or cancelled. */
json_t *elicit_content(const struct request *, const char *key);

/* The params of a form: message, and a requestedSchema (taken). */
json_t *elicit_form(const char *message, json_t *schema);
/* The same as elicit() for one question, but ignores an answer that was sent before the question:
 * no user can decide on what was not shown.  patience NULL: elicit_timeout_ms, and an error. */
bool elicit_shown(
    const struct request *, const struct question *, const struct patience *, json_t **answer);
/* Asks for a yes or no, and ignores an answer that was sent before the question.  true: *yes is
 * the user's answer. */
bool elicit_consent(const struct request *, const char *message, bool *yes, json_t **answer);

/* ---- for the dispatcher ---- */

/* Reads inputResponses and requestState; NULL, or a refusal of a state that this server did not
 * make. */
json_t *elicit_read(struct request *);
/* Handles a response of the client; a response that no request waits for is ignored. */
void elicit_response(struct client *, const struct rpc *);
