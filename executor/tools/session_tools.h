/* SPDX-License-Identifier: Apache-2.0 */
/* session_tools.h - handlers of the calls that make, end and show sessions. */
#pragma once

#include "executor/session/session.h"

int session_tools_on_create_session(struct call *, void *request, struct err *);
int session_tools_on_terminate_session(struct call *, void *request, struct err *);
int session_tools_on_sandbox_close_session(struct call *, void *request, struct err *);
int session_tools_on_bridge_data(struct call *, void *request, struct err *);

/* Appends the caller's sessions to a LIST(session_info); namespace not NULL: only those with it. */
int session_tools_report(const struct call *, const char *namespace, void *list, struct err *);
