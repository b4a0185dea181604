/* SPDX-License-Identifier: Apache-2.0 */
/* handlers.h - one function per method; each returns the whole answer, or NULL if it is pending. */
#pragma once

#include "gateway/mcp/method.h"

/* listen.c */
json_t *handle_listen(const struct request *);
json_t *handle_subscribe(const struct request *);
json_t *handle_unsubscribe(const struct request *);
/* logging.c */
json_t *handle_set_level(const struct request *);
/* providers.c */
json_t *handle_complete(const struct request *);
json_t *handle_prompts_get(const struct request *);
json_t *handle_prompts_list(const struct request *);
json_t *handle_resources_list(const struct request *);
json_t *handle_resources_read(const struct request *);
json_t *handle_tasks_cancel(const struct request *);
json_t *handle_tasks_get(const struct request *);
json_t *handle_tasks_update(const struct request *);
json_t *handle_templates_list(const struct request *);
json_t *handle_tools_call(const struct request *);
json_t *handle_tools_list(const struct request *);
/* server.c */
json_t *handle_discover(const struct request *);
json_t *handle_initialize(const struct request *);
json_t *handle_ping(const struct request *);
/* direct.c */
json_t *handle_approval(const struct request *);
json_t *handle_vault(const struct request *);
