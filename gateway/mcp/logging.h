/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logging.h - notifications/message: what happened, for those who asked to be told.
 *
 * In 2026-07-28 a request asks by a level in its _meta, and what is said goes with its answer; in
 * earlier revisions logging/setLevel asks for a whole session.  Never source, output or a secret.
 */
#pragma once

#include "gateway/mcp/method.h"

/* The eight of RFC 5424, least first; LOGGING_none is what nobody asked for. */
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

/* Sets origin.log_from to what the request asks for; NULL, or a refusal of an unknown level. */
json_t *logging_ask(struct request *);
/* About the request of that origin; takes data, any value.  Nothing is sent that was not asked for,
 * nor to a client that does not read. */
void logging_say(const struct origin *, enum logging, const char *logger, json_t *data);
