/* SPDX-License-Identifier: Apache-2.0 */
/* count.h - calls of the tools of a replaced system since this process started. */
#pragma once

#include <jansson.h>

#include <stdbool.h>

/* A call of that tool, a constant, ended. */
void count_call(const char *tool, bool failed, double ms);
/* A program ended and used that: an object of usage in schema.def, or NULL. */
void count_usage(const json_t *usage);
/* {"peak_bytes"}, the most that one program had, and {"seconds"}, of all programs. */
json_t *count_memory(void);
json_t *count_cpu(void);
/* {tool: {"calls", "errors", "p50_ms", "p99_ms"}} of tools with calls; times of the last 256. */
json_t *count_tools(void);
