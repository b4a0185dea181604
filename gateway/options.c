/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one row a setting; the operator is trusted. */
#include "gateway/options.h"

#include "gateway/auth/options.h"
#include "gateway/mcp/instructions.h"

struct options options;
struct auth_options auth_options;

/* clang-format off */
const struct setting options_table[] = {
	{ "transport", KIND_TEXT, &options.transport, "stdio", 1, 16, NULL,
	  "How clients come: stdio, one client on the standard streams; http, many at /mcp of "
	  "`listen`; sse, those of 2024-11-05 at /sse, too." },
	{ "toolsets", KIND_TEXT, &options.toolsets, "core", 1, 256, NULL,
	  "Tools that are offered: core, monitor, joined by commas; all; or those of one "
	  "system: mcp-secure-sandbox, python-sandbox, sandboxmcp, mcp-code-sandbox." },
	{ "instructions", KIND_TEXT, &options.instructions, INSTRUCTIONS, 0, 2048, NULL,
	  "What a model is told about this server; empty: nothing." },
	{ "max_message_bytes", KIND_UINT, &options.max_message_bytes, "75497472", 1024, 1 << 30, NULL,
	  "A message of a client may be so long; the default holds a 50 MB file as base64." },
	{ "max_output_bytes", KIND_UINT, &options.max_output_bytes, "268435456", 1 << 20, 1LL << 32,
	  NULL, "Answers waiting for a client that does not read them; what does not fit is answered "
	  "with limit_exceeded. Over HTTP those of all principals, of which each has a share." },
	{ "result_bytes", KIND_UINT, &options.result_bytes, "45000", 0, 1LL << 32, NULL,
	  "Of a result; the middle of longer texts in it is left out, and the whole kept as a resource. "
	  "Clients show their models some 50,000 characters. 0: as long as it is." },
	{ "error_bytes", KIND_UINT, &options.error_bytes, "10000", 0, 1LL << 32, NULL,
	  "The same of a program that failed; clients show some 11,000 characters of that." },
	{ "kept_bytes", KIND_UINT, &options.kept_bytes, "33554432", 0, 1LL << 32, NULL,
	  "Texts that results left something out of are kept up to this, the newest, and who has half of it "
	  "pushes out nobody else's; 0: none." },
	{ "max_in_flight", KIND_UINT, &options.max_in_flight, "64", 1, 4096, NULL,
	  "Calls of one client under way at once; one more is answered with queue_full." },
	{ "call_timeout_ms", KIND_UINT, &options.call_timeout_ms, "3700000", 100, 86400000, NULL,
	  "A call is answered within this time, whatever happens; the default is the longest program "
	  "and its place in the queue." },
	{ "eof_grace_ms", KIND_UINT, &options.eof_grace_ms, "1500", 0, 3600000, NULL,
	  "When the client has closed its side, calls under way may still end within this time." },
	{ "page_size", KIND_UINT, &options.page_size, "100", 1, 10000, NULL,
	  "Items of a list in one answer; more come by a cursor." },
	{ "confirm_destructive", KIND_FLAG, &options.confirm_destructive, "false", 0, 1, NULL,
	  "Ask the user before a session is ended or a snapshot deleted or restored; clients that "
	  "cannot ask are refused." },
	{ "elicit_timeout_ms", KIND_UINT, &options.elicit_timeout_ms, "600000", 1000, 86400000, NULL,
	  "How long a client may take to answer what its user is asked." },
	{ "seal_key", KIND_TEXT, &options.seal_key, "", 0, 4000, NULL,
	  "File with 32 random bytes in base64, which seals what clients keep for a server; several "
	  "gateways that serve the same clients share it, and each lets a consent be used once. Empty: "
	  "random at each start." },
	{ "task_after_ms", KIND_UINT, &options.task_after_ms, "5000", 0, 86400000, NULL,
	  "A program that runs longer goes on as a task where the client knows tasks." },
	{ "task_ttl_ms", KIND_UINT, &options.task_ttl_ms, "7200000", 1000, 604800000, NULL,
	  "How long a task and its result are kept, from its beginning." },
	{ "max_tasks", KIND_UINT, &options.max_tasks, "256", 0, 100000, NULL,
	  "Tasks of one principal that are kept; with more, programs are waited for." },
	{ "task_bytes", KIND_UINT, &options.task_bytes, "268435456", 0, 1LL << 40, NULL,
	  "Bytes of results of tasks that are kept for one principal; likewise." },
	{ "lease", KIND_UINT, &options.lease, "0", 0, 65535, NULL,
	  "A descriptor to hold open until the end, as cloister serve hands over; 0: none." },
	{ "listen", KIND_TEXT, &options.listen, "127.0.0.1:8765", 1, 128, NULL,
	  "Address and port of HTTP, as in 127.0.0.1:8765 or [::1]:8765; port 0: a free one, which "
	  "the log tells. Beyond this machine credentials are asked for; see anonymous." },
	{ "public_url", KIND_TEXT, &options.public_url, "", 0, 1024, NULL,
	  "How clients reach this server, as in https://box.example.com, for links to files; empty: "
	  "as the Host header of the request says." },
	{ "allowed_hosts", KIND_TEXT, &options.allowed_hosts, "", 0, 4096, NULL,
	  "Names that a Host header may have beside localhost, 127.0.0.1, [::1] and the address "
	  "listened on; joined by commas; * for all, behind a proxy that checks." },
	{ "allowed_origins", KIND_TEXT, &options.allowed_origins, "", 0, 4096, NULL,
	  "Origins of web pages that may ask, as in https://chat.example.com, beside those of "
	  "localhost; joined by commas; * for all." },
	{ "tls_certificate", KIND_TEXT, &options.tls_certificate, "", 0, 4095, NULL,
	  "File of the certificate chain, PEM; with tls_key: HTTPS. New connections get a renewed pair "
	  "once both files are there; the gateway can read all of their folders." },
	{ "tls_key", KIND_TEXT, &options.tls_key, "", 0, 4095, NULL,
	  "File of the certificate's private key, PEM." },
	{ "link_key", KIND_TEXT, &options.link_key, "", 0, 4095, NULL,
	  "File of 32 bytes or more that links to files are sealed with; empty: a key made at each "
	  "start, which ends earlier links." },
	{ "link_ttl_s", KIND_UINT, &options.link_ttl_s, "3600", 1, 31536000, NULL,
	  "A link to a file can be used for so long." },
	{ "max_connections", KIND_UINT, &options.max_connections, "12000", 4, 1000000, NULL,
	  "HTTP connections at once; one more waits to be accepted, one over a principal's share is "
	  "answered with 503." },
	{ "max_connections_per_address", KIND_UINT, &options.max_connections_per_address, "0", 0,
	  1000000, NULL, "Those of one address, one more is closed; 0: as many as there may be in all." },
	{ "max_header_bytes", KIND_UINT, &options.max_header_bytes, "12288", 4096, 1 << 20, NULL,
	  "Memory for the head of a request; a longer one is answered with 431." },
	{ "header_timeout_ms", KIND_UINT, &options.header_timeout_ms, "10000", 100, 600000, NULL,
	  "From the connection to the end of the first request's head." },
	{ "idle_timeout_ms", KIND_UINT, &options.idle_timeout_ms, "75000", 100, 3600000, NULL,
	  "From one request to the end of the next one's head." },
	{ "stall_timeout_ms", KIND_UINT, &options.stall_timeout_ms, "30000", 100, 3600000, NULL,
	  "A body that does not arrive, or an answer that is not read, for so long ends the "
	  "connection." },
	{ "min_bytes_per_s", KIND_UINT, &options.min_bytes_per_s, "32768", 1, 1 << 30, NULL,
	  "Bodies and answers slower than this end the connection, too." },
	{ "keep_alive_ms", KIND_UINT, &options.keep_alive_ms, "15000", 100, 3600000, NULL,
	  "A stream of events that was silent for so long gets a comment." },
	{ "max_bodies_bytes", KIND_UINT, &options.max_bodies_bytes, "268435456", 1 << 20, 1LL << 40,
	  NULL, "Memory for bodies of requests while they arrive, all together; a large one that "
	  "finds none in its principal's share is answered with 503." },
	{ "max_stream_bytes", KIND_UINT, &options.max_stream_bytes, "4194304", 65536, 1LL << 32, NULL,
	  "Events waiting for a client that does not read its stream; with more it is closed." },
	{ "session_ttl_ms", KIND_UINT, &options.session_ttl_ms, "1800000", 100, 86400000, NULL,
	  "A session of a revision before 2026-07-28 that nobody used for so long is ended." },
	{ "max_http_sessions", KIND_UINT, &options.max_http_sessions, "4096", 1, 1000000, NULL,
	  "Such sessions at once, of which each principal has a share; one more ends the idlest, or is "
	  "refused where none is idle." },
	{ "replay_bytes", KIND_UINT, &options.replay_bytes, "1048576", 0, 1 << 30, NULL,
	  "Events of a session kept for a client that comes back with Last-Event-ID; 64 times that for all "
	  "sessions, beyond which the principal that has most loses the oldest of its own." },
	{ "rate_per_s", KIND_UINT, &options.rate_per_s, "0", 0, 1000000, NULL,
	  "Requests of one principal in a second, of a batch each; one more is answered with 429; 0: no "
	  "bound." },
	{ "rate_burst", KIND_UINT, &options.rate_burst, "100", 1, 1000000, NULL,
	  "So many at once before rate_per_s counts." },
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
