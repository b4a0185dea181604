/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit.h - asking the client for something while one of its requests is under way.
 *
 * A handler asks as though the answers were there already:
 *
 *	json_t *answer, *name = NULL;
 *	const struct question q = { "user_name", "elicitation/create", params };
 *
 *	if (!elicit(r, &q, 1, &answer))
 *		return answer;
 *	name = elicit_content(r, "user_name");
 *
 * Where they are not, the request ends here and the handler is run once more, from its beginning,
 * when they are.  In 2026-07-28 that is by the client's retry (basic/patterns/mrtr): what was
 * answered so far travels in a requestState that only this server can make, bound to principal,
 * method and parameters, for a quarter of an hour and one retry.  In earlier revisions the client
 *is sent a request on the stream of its own, and the handler is run again with the response.
 *
 * Only tools/call, prompts/get and resources/read may ask.
 */
#pragma once

#include "gateway/mcp/method.h"

struct question {
	const char *key;    /* of our choice, unique within the request */
	const char *method; /* elicitation/create, sampling/createMessage or roots/list */
	json_t *params;     /* taken; NULL: none */
};

/*
 * true: all answers are there, see below.  false: *answer is what the handler returns; it is a
 * refusal where the client has not declared that it can be asked.  The params of all questions are
 * taken.
 */
bool elicit(const struct request *, const struct question *, size_t count, json_t **answer);

/* What the client answered to that key: the result of the request, an object; borrowed. */
json_t *elicit_result(const struct request *, const char *key);
/* Of a form: its content, an object, if the user accepted; NULL: declined or cancelled. */
json_t *elicit_content(const struct request *, const char *key);

/* A form's params: message, and a requestedSchema (taken). */
json_t *elicit_form(const char *message, json_t *schema);
/* Asks for a yes or no, and takes none that comes unasked.  true: *yes is what the user said. */
bool elicit_consent(const struct request *, const char *message, bool *yes, json_t **answer);

/* ---- for the dispatcher ---- */

/* Reads inputResponses and requestState; NULL, or a refusal of a state that is not ours. */
json_t *elicit_read(struct request *);
/* A response of the client; one that nobody waits for is ignored. */
void elicit_response(struct client *, const struct rpc *);
