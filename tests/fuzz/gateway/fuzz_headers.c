/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_headers.c - what HTTP headers and links hold that is read here and not by libmicrohttpd.
 *
 * Input: which of them (1 byte), and its text.  A value that decodes is UTF-8 and says what it
 * decodes to; an event's id is read as it was written; a seal that nobody made opens nothing.
 */
#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"
#include "gateway/mcp/links.h"
#include "gateway/options.h"
#include "gateway/transport/http/headers.h"
#include "gateway/transport/http/request.h"
#include "gateway/transport/http/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the sources need of the rest. */
struct options options = { .link_key = (char[]){ "" } };

const char *
request_header(const struct http_request *r, const char *name)
{
	(void)r;
	(void)name;
	return NULL;
}

bool
request_repeats(const struct http_request *r, const char *name)
{
	(void)r;
	(void)name;
	return false;
}

void
request_wake(struct http_request *r)
{
	(void)r;
}

static void
look_at_value(const char *text)
{
	auto_free char *decoded = headers_decode(text);

	if (decoded == NULL || !utf8_valid(decoded, strlen(decoded)))
		return;

	json_t *same = json_string(decoded), *number = json_integer(strtoll(decoded, NULL, 10));

	must(headers_says(text, same));
	(void)headers_says(text, number);
	json_decref(same);
	json_decref(number);
}

static void
look_at_id(const char *text)
{
	uint64_t tag, number;
	char again[64];

	if (!stream_parse(text, &tag, &number))
		return;
	snprintf(again, sizeof again, "%" PRIu64 "-%" PRIu64, tag, number);

	uint64_t tag_again, number_again;

	must(stream_parse(again, &tag_again, &number_again));
	must(tag == tag_again && number == number_again);
}

static void
look_at_seal(const char *text)
{
	struct owner owner;
	struct err e;

	must(links_check("sess", "file", text, &owner, &e) < 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const look[])(const char *) = { look_at_value, look_at_id, look_at_seal };
	struct err e;

	if (size < 1)
		return -1;
	must(links_open(&e) == 0);

	auto_free char *text = strndup((const char *)data + 1, size - 1);

	look[data[0] % COUNT(look)](text);
	return 0;
}
