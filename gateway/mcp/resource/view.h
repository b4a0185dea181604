/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - URIs of resources, and what is read there, out of replies of daemons. */
#pragma once

#include "gateway/mcp/errand.h"

#define VIEW_STATUS    "sandbox://status"
#define VIEW_LOGS      "sandbox://logs"
#define VIEW_SCHEMAS   "sandbox://schemas"
#define VIEW_SESSIONS  "sandbox://sessions/"
#define VIEW_FILES     "sandbox://artifacts/"
#define VIEW_SNAPSHOTS "sandbox://snapshots/"
#define VIEW_AUDIT     "sandbox://audit/"

/* Of a file, by its relative name or where a program finds it; of malloc, NULL: no memory. */
char *view_file_uri(const char *session, const char *path);

/* Each puts the answer to resources/read together; context is {variable: text} of the URI. */
errand_compose view_status;
errand_compose view_logs;
errand_compose view_value; /* the one reply as it is */
errand_compose view_file;
errand_compose view_snapshot;
errand_compose view_audit;

/* A content of that URI, taken. */
json_t *view_text(const struct request *, const char *mime_type, json_t *text);
/* The answer that there is no such resource. */
json_t *view_absent(const struct request *);
