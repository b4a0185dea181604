/* SPDX-License-Identifier: Apache-2.0 */
/* count.h - calls of the tools of a replaced system since this process started. */
#pragma once

#include <jansson.h>

#include <stdbool.h>

/* A call of that tool, a constant, ended. */
void count_call(const char *tool, bool failed, double ms);
/* {tool: {"calls", "errors", "p50_ms", "p99_ms"}} of tools with calls; times of the last 256. */
json_t *count_tools(void);
