/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_csv.c - any bytes as CSV, with constraints that the first byte chooses or that precede a
 * zero byte.
 *
 * A check ends in a report within the bounds of the schema, or in an error that is the data's own
 * fault.
 */
#include "validator/csv/charset.h"
#include "validator/csv/csv.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const rules[] = {
	"",
	"{\"a\": \"int\", \"b\": \"float\", \"column_1\": \"date\"}",
	"{\"a\": {\"type\": \"datetime\", \"min\": \"2020-01-01T00:00\"}, \"b\": {\"unique\": "
	"true}}",
	"{\"a\": {\"pattern\": \"(a|aa)+\", \"max_length\": 5}, \"b\": {\"enum\": [1, \"x\"]}}",
	"{\"a\": {\"type\": \"date\", \"format\": [\"%d %b %Y\", \"%j%p%I%z%f\"]}, \"b\": "
	"\"email\"}",
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct csv_report report = { 0 };
	struct packed packed;
	struct err e = { 0 };

	charset_open();
	if (size < 2)
		return 0;
	const uint8_t *zero = data[0] >= 224 ? memchr(data + 1, 0, size - 1) : NULL;
	const uint8_t *text = zero != NULL ? zero + 1 : data + 1;
	struct validate_csv_data ask = {
		.type_constraints = zero != NULL ? blob_copy(data + 1, (size_t)(zero - data) - 1)
		                                 : blob_text(rules[data[0] % COUNT(rules)]),
		.csv_base64 = blob_copy(text, (size_t)(data + size - text)),
		.has_header = (data[0] & 16) == 0,
		.statistics = (data[0] & 32) == 0,
		.skip_lines = data[0] & 3,
		.escape = (data[0] & 8) == 0 ? strdup("\\") : NULL,
		.comment = (data[0] & 64) == 0 ? strdup("#") : NULL,
		.decimal = (data[0] & 8) == 0 ? strdup(",") : NULL,
		.max_errors = 1000,
	};
	if (csv_check(&ask, &report, &e) == 0) {
		must(wire_encode(MSG_csv_report, &report, &packed, &e) == 0);
		packed_clear(&packed);
	} else {
		must(e.code == ERR_invalid_argument || e.code == ERR_limit_exceeded);
	}
	message_clear(MSG_csv_report, &report);
	message_clear(MSG_validate_csv_data, &ask);
	return 0;
}
