/* SPDX-License-Identifier: Apache-2.0 */
/* checked_json.c - a request for validate_json_data without the bus. */
#include "tests/unit/checked_json.h"

#include <stdio.h>

void
check_json_for(struct checked *c, const char *schema, const char *data, int draft, int output)
{
	struct validate_json_data ask = {
		.data = blob_text(data),
		.schema_name_or_dict = blob_text(schema),
		.output = output,
		.draft = draft,
		.check_formats = true,
		.max_errors = 50,
	};
	size_t used = 0;

	*c = (struct checked){ 0 };
	c->status = validate_json(&ask, &c->report, &c->error);
	for (size_t n = 0; n < c->report.errors.count && used < sizeof c->found; n++)
		used += (size_t)snprintf(c->found + used, sizeof c->found - used, "%s%s %s",
		    n == 0 ? "" : ", ", c->report.errors.items[n].instance_path,
		    c->report.errors.items[n].keyword);
	blob_clear(&ask.data);
	blob_clear(&ask.schema_name_or_dict);
}

void
check_json(struct checked *c, const char *schema, const char *data, int draft)
{
	check_json_for(c, schema, data, draft, schema_output_basic);
}

void
checked_clear(struct checked *c)
{
	message_clear(MSG_schema_report, &c->report);
}
