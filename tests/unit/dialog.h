/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialog.h - a client and a bus for tests of the dispatcher, without daemons.
 *
 * bus_ask() stores the request. A test answers it at any time, through dialog.bus.ask.done or one
 * of the functions below.
 */
#pragma once

#include "gateway/transport/client.h"

#include "common/bus/bus.h"

#include <jansson.h>

struct dialog {
	struct account account;
	struct client client;
	json_t *said[16]; /* messages to the client since dialog_forget() */
	size_t nsaid;
	struct {
		struct ask ask; /* the last one */
		struct owner owner;
		char instance[64], trace[64];
		uint64_t id, cancelled, forgotten;
		int asked;
		bool there, refuse;
	} bus;
};

extern struct dialog dialog;

/* Before and after each test. */
int dialog_start(void **state);
int dialog_stop(void **state);

/* Sends a line as the client. */
void dialog_say(const char *line);
/* The value at a path such as "error.code" in the last message to the client; NULL if absent. */
json_t *dialog_at(const char *path);
void dialog_forget(void);

/* Fails the last request, or answers it with one runtime. */
void dialog_fail_call(enum err_code, const char *text);
void dialog_reply_listing(void);

#define META \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define REQUEST(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define INITIALIZE(version) \
	REQUEST("0", "initialize", \
	    "\"protocolVersion\":\"" version "\",\"capabilities\":{},\"clientInfo\":{}")
#define LIST(id, rest) \
	REQUEST(id, "tools/call", "\"name\":\"list_runtimes\",\"arguments\":{}," rest META)
