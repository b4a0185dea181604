/* SPDX-License-Identifier: Apache-2.0 */
/* logging.c - log levels, and the level that each client set (2026-07-28, utilities/logging). */
#include "gateway/mcp/logging.h"

#include "gateway/mcp/handlers.h"

#include <string.h>

static const char *const names[LOGGING_COUNT] = {
	[LOGGING_none] = "",
	[LOGGING_debug] = "debug",
	[LOGGING_info] = "info",
	[LOGGING_notice] = "notice",
	[LOGGING_warning] = "warning",
	[LOGGING_error] = "error",
	[LOGGING_critical] = "critical",
	[LOGGING_alert] = "alert",
	[LOGGING_emergency] = "emergency",
};

/* LOGGING_none if the text is not a level. */
static enum logging
parse(const json_t *level)
{
	const char *text = json_string_value(level);

	for (int i = LOGGING_debug; text != NULL && i < LOGGING_COUNT; i++)
		if (strcmp(names[i], text) == 0)
			return (enum logging)i;
	return LOGGING_none;
}

static json_t *
refuse(const struct request *r, const char *name)
{
	return method_refuse(r,
	    "%s must be one of debug, info, notice, warning, error, critical, alert, emergency",
	    name);
}

json_t *
logging_ask(struct request *r)
{
	json_t *level = json_object_get(r->meta, REVISION_META "logLevel");

	r->origin.log_from = r->origin.client->log_from;
	if (!r->origin.revision->modern)
		return NULL;
	r->origin.log_from = parse(level);
	return level != NULL && r->origin.log_from == LOGGING_none
	           ? refuse(r, "_meta[\"" REVISION_META "logLevel\"]")
	           : NULL;
}

json_t *
handle_set_level(const struct request *r)
{
	enum logging level = parse(json_object_get(r->params, "level"));

	if (level == LOGGING_none)
		return refuse(r, "level");
	r->origin.client->log_from = level;
	return method_complete(r, json_object());
}

void
logging_say(const struct origin *to, enum logging level, const char *logger, json_t *data)
{
	if (to->log_from == LOGGING_none || (int)level < to->log_from || client_slow(to)) {
		json_decref(data);
		return;
	}
	client_tell(to, jsonrpc_notification("notifications/message",
			    json_pack("{s:s, s:s, s:o}", "level", names[level], "logger", logger,
				"data", data)));
}
