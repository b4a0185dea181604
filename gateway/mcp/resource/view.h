/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - builds the contents of resources from the replies of daemons. */
#pragma once

#include "gateway/mcp/fan_out.h"

/* Each builds the answer to resources/read; context is {variable: text} of the URI. */
fan_out_compose view_status;
fan_out_compose view_logs;
fan_out_compose view_value; /* the single reply, unchanged */
fan_out_compose view_file;
fan_out_compose view_snapshot;
fan_out_compose view_audit;

/* A content with that URI; takes the text. */
json_t *view_text(const struct request *, const char *mime_type, json_t *text);
/* The answer that the resource does not exist. */
json_t *view_absent(const struct request *);
