/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one row a setting; the operator is trusted. */
#include "gateway/options.h"

#include "gateway/auth/options.h"
#include "gateway/instructions.h"

struct options options;
struct auth_options auth_options;

/* clang-format off */
const struct setting options_table[] = {
	{ "transport", KIND_TEXT, &options.transport, "stdio", 1, 16, NULL,
	  "How clients come: stdio, one client on the standard streams." },
	{ "toolsets", KIND_TEXT, &options.toolsets, "core", 1, 256, NULL,
	  "Tools that are offered: core, monitor, web, host, joined by commas; all; or those of one "
	  "system: mcp-secure-sandbox, python-sandbox, sandboxmcp, mcp-code-sandbox." },
	{ "instructions", KIND_TEXT, &options.instructions, INSTRUCTIONS, 0, 2048, NULL,
	  "What a model is told about this server; empty: nothing." },
	{ "max_message_bytes", KIND_UINT, &options.max_message_bytes, "75497472", 1024, 1 << 30, NULL,
	  "A message of a client may be so long; the default holds a 50 MB file as base64." },
	{ "max_output_bytes", KIND_UINT, &options.max_output_bytes, "268435456", 1 << 20, 1LL << 32,
	  NULL, "Answers waiting for a client that does not read them; what does not fit is answered "
	  "with limit_exceeded." },
	{ "result_bytes", KIND_UINT, &options.result_bytes, "45000", 0, 1LL << 32, NULL,
	  "Of a result; the middle of longer texts in it is left out, and the whole kept as a resource. "
	  "Clients show their models some 50,000 characters. 0: as long as it is." },
	{ "error_bytes", KIND_UINT, &options.error_bytes, "10000", 0, 1LL << 32, NULL,
	  "The same of a program that failed; clients show some 11,000 characters of that." },
	{ "kept_bytes", KIND_UINT, &options.kept_bytes, "33554432", 0, 1LL << 32, NULL,
	  "Texts that results left something out of are kept up to this, the newest; 0: none." },
	{ "max_in_flight", KIND_UINT, &options.max_in_flight, "64", 1, 4096, NULL,
	  "Calls of one client under way at once; one more is answered with queue_full." },
	{ "call_timeout_ms", KIND_UINT, &options.call_timeout_ms, "3700000", 100, 86400000, NULL,
	  "A call is answered within this time, whatever happens; the default is the longest program "
	  "and its place in the queue." },
	{ "eof_grace_ms", KIND_UINT, &options.eof_grace_ms, "1500", 0, 3600000, NULL,
	  "When the client has closed its side, calls under way may still end within this time." },
	{ "lease", KIND_UINT, &options.lease, "0", 0, 65535, NULL,
	  "A descriptor to hold open until the end, as cloister serve hands over; 0: none." },
	{ "describe", KIND_FLAG, &options.describe, "false", 0, 1, NULL,
	  "Print the table of tools as Markdown and end." },
	{ "credentials", KIND_TEXT, &auth_options.credentials, "", 0, 4000, NULL,
	  "Folder of who may come in by HTTP: tokens (cloister token), the issuer's keys; empty: credentials "
	  "below state." },
	{ "issuer", KIND_TEXT, &auth_options.issuer, "", 0, 200, NULL,
	  "OAuth 2.1 issuer whose access tokens are accepted by HTTP, as its metadata names it; empty: none." },
	{ "resource", KIND_TEXT, &auth_options.resource, "", 0, 200, NULL,
	  "URL of this server as clients know it, https://host/mcp; the audience of access tokens." },
	{ "namespace_claim", KIND_TEXT, &auth_options.namespace_claim, "", 0, 64, NULL,
	  "Claim of an access token that holds the name space of its principal; empty: none." },
	{ "leeway_s", KIND_UINT, &auth_options.leeway_s, "30", 0, 300, NULL,
	  "Seconds by which an issuer's clock may differ." },
	{ "anonymous", KIND_FLAG, &auth_options.anonymous, "false", 0, 1, NULL,
	  "Serve HTTP requests without credentials, as whoever started the gateway; on loopback only." },
	{ 0 },
};
/* clang-format on */
