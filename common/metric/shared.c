/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - the table of the metrics of every daemon; labels are messages, error codes, daemons.
 */
#include "common/metric/shared.h"

#include "common/table/schema.h"

static const char *
message_text(unsigned value)
{
	return messages[value].name;
}

static const char *
code_text(unsigned value)
{
	return err_name((enum err_code)value);
}

static const char *
daemon_text(unsigned value)
{
	return edge_peer_name((enum peer)value);
}

static const struct metric_label by_message = { "message", MSG_COUNT, message_text };
static const struct metric_label by_code = { "code", ERR_COUNT, code_text };
static const struct metric_label by_daemon = { "daemon", PEER_COUNT, daemon_text };
#define by_result metric_by_result

/* clang-format off */
struct metric shared_rows[SHARED_COUNT] = {
#define METRIC(id, kind, by, doc) { #id, doc, METRIC_##kind, by, NULL },
#include "common/metric/metrics.def"
};
/* clang-format on */
