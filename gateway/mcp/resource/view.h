/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - what is read from resources, out of replies of daemons. */
#pragma once

#include "gateway/mcp/fan_out.h"

/* Each puts the answer to resources/read together; context is {variable: text} of the URI. */
fan_out_compose view_status;
fan_out_compose view_logs;
fan_out_compose view_value; /* the one reply as it is */
fan_out_compose view_file;
fan_out_compose view_snapshot;
fan_out_compose view_audit;

/* A content of that URI, taken. */
json_t *view_text(const struct request *, const char *mime_type, json_t *text);
/* The answer that there is no such resource. */
json_t *view_absent(const struct request *);
