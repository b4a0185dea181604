/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - metrics in the form of OpenMetrics, with the names of OpenTelemetry's semantic
 * conventions for MCP (gen-ai/mcp): mcp.server.operation.duration.
 *
 * Labels come from closed sets, so that no client can add series.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An operation to count. */
struct operation {
	const char *method, *tool; /* constants; tool NULL: none */
	int64_t began_us;
	bool asks; /* expects a reply, unless it is cancelled */
};

/* Counts an operation that ended with that message; NULL: it ended without one, as a cancelled
 * request does. */
void metrics_count(const struct operation *, const json_t *message);
/* The whole text, allocated with malloc; NULL: no memory. */
char *metrics_text(size_t *size);
