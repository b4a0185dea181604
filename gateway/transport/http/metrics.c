/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - a row for each method, tool and outcome seen so far. */
#include "gateway/transport/http/metrics.h"

#include "gateway/rpc/jsonrpc.h"
#include "gateway/transport/http/session.h"
#include "gateway/transport/http/state.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/daemon/monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	MAX_ROWS = 512,
};

/* Seconds: OpenTelemetry's advice for durations of MCP, and finer ones below it. */
static const double bounds[] = { 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60,
	120, 300 };

struct row {
	const char *method, *tool; /* constants, compared by address */
	const char *error;         /* "": none */
	uint64_t count, buckets[COUNT(bounds)];
	double sum;
};

static struct row rows[MAX_ROWS];
static size_t nrows;

/* error.type: from a closed set. */
static const char *
error_of(const struct operation *o, const json_t *message)
{
	static const struct {
		int code;
		const char *text;
	} codes[] = {
		{ RPC_PARSE, "-32700" },
		{ RPC_INVALID, "-32600" },
		{ RPC_METHOD, "-32601" },
		{ RPC_PARAMS, "-32602" },
		{ RPC_INTERNAL, "-32603" },
		{ -32020, "-32020" },
		{ -32021, "-32021" },
		{ RPC_VERSION, "-32022" },
	};
	json_t *error = json_object_get(message, "error");

	if (message == NULL)
		return o->asks ? "cancelled" : "";
	if (error == NULL)
		return json_is_true(json_object_get(json_object_get(message, "result"), "isError"))
		           ? "tool_error"
		           : "";
	for (size_t i = 0; i < COUNT(codes); i++)
		if (json_integer_value(json_object_get(error, "code")) == codes[i].code)
			return codes[i].text;
	return "_OTHER";
}

static struct row *
find(const struct operation *o, const char *error)
{
	size_t i = 0;

	while (i < nrows &&
	       !(rows[i].method == o->method && rows[i].tool == o->tool && rows[i].error == error))
		i++;
	if (i == nrows && nrows < MAX_ROWS)
		rows[nrows++] =
		    (struct row){ .method = o->method, .tool = o->tool, .error = error };
	return i < MAX_ROWS ? &rows[i] : NULL;
}

void
metrics_count(const struct operation *o, const json_t *message)
{
	double seconds = (double)(loop_now_us() - o->began_us) / 1e6;
	struct row *row = o->method == NULL ? NULL : find(o, error_of(o, message));

	if (row == NULL)
		return;
	row->count++;
	row->sum += seconds;
	for (size_t i = 0; i < COUNT(bounds); i++)
		row->buckets[i] += seconds <= bounds[i];
}

/* ---- as text ---- */

static void
print_labels(FILE *to, const struct row *row, const char *more)
{
	fprintf(to, "{mcp_method_name=\"%s\"", row->method);
	if (row->tool != NULL)
		fprintf(to, ",gen_ai_tool_name=\"%s\"", row->tool);
	if (*row->error != '\0')
		fprintf(to, ",error_type=\"%s\"", row->error);
	fprintf(to, "%s}", more);
}

static void
print_row(FILE *to, const struct row *row)
{
	static const char name[] = "mcp_server_operation_duration_seconds";
	char le[32];

	for (size_t i = 0; i <= COUNT(bounds); i++) {
		if (i < COUNT(bounds))
			snprintf(le, sizeof le, ",le=\"%g\"", bounds[i]);
		else
			snprintf(le, sizeof le, ",le=\"+Inf\"");
		fprintf(to, "%s_bucket", name);
		print_labels(to, row, le);
		fprintf(to, " %" PRIu64 "\n", i < COUNT(bounds) ? row->buckets[i] : row->count);
	}
	fprintf(to, "%s_sum", name);
	print_labels(to, row, "");
	fprintf(to, " %.6f\n%s_count", row->sum, name);
	print_labels(to, row, "");
	fprintf(to, " %" PRIu64 "\n", row->count);
}

static void
print_value(FILE *to, const char *name, const char *kind, const char *help, uint64_t value)
{
	fprintf(to, "# HELP %s %s\n# TYPE %s %s\n%s%s %" PRIu64 "\n", name, help, name, kind, name,
	    strcmp(kind, "counter") == 0 ? "_total" : "", value);
}

char *
metrics_text(size_t *size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	if (to == NULL)
		return NULL;
	fputs("# HELP mcp_server_operation_duration_seconds Time from a request to its reply.\n"
	      "# TYPE mcp_server_operation_duration_seconds histogram\n",
	    to);
	for (size_t i = 0; i < nrows; i++)
		print_row(to, &rows[i]);
	print_value(
	    to, "cloister_http_connections", "gauge", "Open connections.", web_counts.connections);
	print_value(to, "cloister_http_accepted", "counter", "Connections since the start.",
	    web_counts.accepted);
	print_value(to, "cloister_http_requests", "counter", "Requests since the start.",
	    web_counts.requests);
	print_value(to, "cloister_http_slow_clients", "counter",
	    "Connections ended because a client was too slow.", web_counts.refused_slow);
	print_value(to, "cloister_http_waiting_bytes", "gauge",
	    "Replies and events that clients have not read yet.", web_counts.waiting);
	print_value(to, "cloister_http_sessions", "gauge",
	    "Sessions of revisions before 2026-07-28.", session_count());
	monitor_write(to);
	return fclose(to) == 0 ? text : NULL;
}
