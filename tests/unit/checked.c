/* SPDX-License-Identifier: Apache-2.0 */
/* checked.c - calls the validator's code without the daemon around it; trusts the test. */
#include "checked.h"

#include "validator/check.h"
#include "validator/python/python.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
checked_start(uint64_t memory_bytes)
{
	struct err e;

	if (python_open(memory_bytes, &e) != 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
}

static void
add_imports(struct texts *texts, const char *imports)
{
	while (imports != NULL && *imports != '\0') {
		char name[256];
		size_t size = strcspn(imports, " ");
		snprintf(name, sizeof name, "%.*s", (int)size, imports);
		must(texts_add(texts, name) == 0);
		imports += size + strspn(imports + size, " ");
	}
}

void
checked_run(struct checked *c, const char *code, size_t size, const char *profile,
    const char *imports, bool auto_fix)
{
	struct validate_code ask = { .code = blob_copy(code, size),
		.profile = profile != NULL ? strdup(profile) : NULL,
		.auto_fix = auto_fix };
	size_t used = 0;

	*c = (struct checked){ 0 };
	add_imports(&ask.allowed_imports, imports);
	if (imports != NULL && *imports == '\0')
		ask.allowed_imports.items = calloc(1, sizeof(char *));
	c->status = check_code(&ask, 1 << 20, &c->report, &c->error);
	for (size_t n = 0; n < c->report.findings.count && used < sizeof c->found; n++) {
		const struct finding *f = &c->report.findings.items[n];
		used += (size_t)snprintf(c->found + used, sizeof c->found - used,
		    "%s%" PRIu64 ":%" PRIu64 " %s", n == 0 ? "" : ", ", f->line, f->column,
		    f->rule);
	}
	message_clear(MSG_validate_code, &ask);
}

void
checked_clear(struct checked *c)
{
	message_clear(MSG_validation_report, &c->report);
}
