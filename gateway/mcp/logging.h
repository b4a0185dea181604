/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.h - notifications/message: events, sent to the clients that requested them.
 *
 * In 2026-07-28 a request sets a level in its _meta, and the messages travel on the stream of its
 * answer.  In earlier revisions logging/setLevel sets the level of a whole session.  A message
 * never contains source code, output or a secret.
 */
#pragma once

#include "gateway/mcp/method.h"

/* The eight levels of RFC 5424, least severe first; LOGGING_none: no messages were requested. */
enum logging {
	LOGGING_none,
	LOGGING_debug,
	LOGGING_info,
	LOGGING_notice,
	LOGGING_warning,
	LOGGING_error,
	LOGGING_critical,
	LOGGING_alert,
	LOGGING_emergency,
	LOGGING_COUNT
};

/* Sets origin.log_from to the level that the request sets; NULL, or a refusal of an unknown
 * level. */
json_t *logging_ask(struct request *);
/* Logs about the request of that origin; takes data, which may be any value.  Sends only
 * what the client's level includes, and nothing to a client that does not read. */
void logging_say(const struct origin *, enum logging, const char *logger, json_t *data);
