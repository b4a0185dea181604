/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_schema.c - any bytes as JSON, against a schema that precedes a zero byte, or against itself.
 *
 * A value equals itself, as `const` and `uniqueItems` compare it, whatever its numbers are. A check
 * by any schema ends in a report within the bounds of the schema of messages, or in an error.
 */
#include "validator/schema/validate.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 1, 0, or -1 with *e. */
static int
verdict(struct blob schema, struct blob data, struct err *e)
{
	struct schema_report report = { 0 };
	struct validate_json_data ask = { .data = data,
		.schema_name_or_dict = schema,
		.output = schema_output_detailed,
		.draft = json_draft_2020_12,
		.check_formats = true,
		.max_errors = 50 };
	struct packed packed;
	int valid = -1;

	if (validate_json(&ask, &report, e) == 0) {
		must(wire_encode(MSG_schema_report, &report, &packed, e) == 0);
		packed_clear(&packed);
		valid = report.valid;
	} else {
		must(e->text[0] != '\0');
	}
	message_clear(MSG_schema_report, &report);
	message_clear(MSG_validate_json_data, &ask);
	return valid;
}

static struct blob
around(const char *before, const struct blob *text, const char *after)
{
	char *joined;
	int size =
	    asprintf(&joined, "%s%.*s%s", before, (int)text->size, (const char *)text->data, after);

	must(size > 0);
	return (struct blob){ joined, (size_t)size };
}

static void
check_itself(const struct blob *text)
{
	struct blob twice = around("[", text, ", ");
	struct err e = { 0 };
	int valid = verdict(around("{\"type\": [\"array\", \"string\"], \"const\": [", text, "]}"),
	    around("[", text, "]"), &e);

	must(valid == 1 || e.code == ERR_invalid_argument || e.code == ERR_limit_exceeded ||
	     e.code == ERR_schema_invalid);
	if (valid == 1) {
		int unique = verdict(blob_text("{\"uniqueItems\": true}"),
		    around((const char *)twice.data, text, "]"), &e);
		must(unique == 0 || (unique < 0 && (e.code == ERR_limit_exceeded ||
						       e.code == ERR_invalid_argument)));
	}
	blob_clear(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	struct err e = { 0 };

	if (zero == NULL && size > 0) {
		struct blob text = blob_copy(data, size);

		check_itself(&text);
		blob_clear(&text);
	} else if (zero != NULL && zero > data && zero + 1 < data + size) {
		verdict(blob_copy(data, (size_t)(zero - data)),
		    blob_copy(zero + 1, (size_t)(data + size - zero) - 1), &e);
	}
	return 0;
}
