/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what was served, as Prometheus reads it, by the names that OpenTelemetry gives MCP
 * (semantic conventions, gen-ai/mcp): mcp.server.operation.duration.
 *
 * Labels are of closed sets, so that no client makes the number of series grow.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is counted about a request. */
struct operation {
	const char *method, *tool; /* texts that stay; tool NULL: none */
	int64_t began_us;
	bool asks; /* it is answered, unless it is cancelled */
};

/* An operation has ended with that message; NULL: without one, as a request does that was
 * cancelled. */
void metrics_count(const struct operation *, const json_t *message);
/* The whole text, of malloc; NULL: no memory. */
char *metrics_text(size_t *size);
