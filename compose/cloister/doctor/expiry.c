/* SPDX-License-Identifier: Apache-2.0 */
/* expiry.c - bearer tokens for HTTP that have expired, or will within a week. */
#include "compose/cloister/doctor/checks.h"

#include "common/credential/directory.h"
#include "common/credential/tokens.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <errno.h>
#include <stdio.h>

enum {
	PATH = 4096,
	SOON_S = 7 * 86400,
};

/* The token that ends first; NULL: none ends. */
static const struct token *
first_to_end(const struct tokens *tokens)
{
	const struct token *first = NULL;

	for (size_t i = 0; i < tokens->count; i++) {
		int64_t ends = tokens->items[i].identity.expires_s;

		if (ends != 0 && (first == NULL || ends < first->identity.expires_s))
			first = &tokens->items[i];
	}
	return first;
}

static void
judge(const struct machine *m, const struct tokens *tokens, struct diagnosis *f)
{
	const struct token *first = first_to_end(tokens);
	char ends[TIMESTAMP_TEXT] = "";

	if (first != NULL)
		timestamp_text(
		    (struct timespec){ .tv_sec = (time_t)first->identity.expires_s }, 0, ends);
	if (first == NULL || first->identity.expires_s > m->now_s + SOON_S) {
		diagnosis_set(
		    f, DIAGNOSIS_ok, "%zu, none of which ends within a week", tokens->count);
		return;
	}
	diagnosis_set(f, DIAGNOSIS_weaker, "%s %s %s", first->name,
	    first->identity.expires_s > m->now_s ? "ends" : "ended", ends);
	diagnosis_remedy(
	    f, "cloister token remove %s && cloister token add %s", first->name, first->name);
}

void
expiry_check(const struct machine *m, struct diagnosis *f)
{
	char path[PATH];
	struct blob text = { 0 };
	struct tokens tokens = { 0 };
	struct err e = { 0 };

	snprintf(path, sizeof path, "%s/" AUTH_TOKENS, m->credentials);
	if (fdio_load_given(path, TOKENS_FILE_MAX, &text, &e) < 0) {
		bool none = e.sys == ENOENT;

		diagnosis_set(f, none ? DIAGNOSIS_ok : DIAGNOSIS_weaker, "%.300s",
		    none ? "there are none" : e.text);
		diagnosis_remedy(f, "ls -l %.300s", path);
	} else if (tokens_read(&text, &tokens, &e) < 0) {
		diagnosis_set(f, DIAGNOSIS_weaker, "%.100s: %.250s", path, e.text);
		diagnosis_remedy(f, "cloister token list");
	} else {
		judge(m, &tokens, f);
	}
	tokens_clear(&tokens);
	blob_clear(&text);
}
