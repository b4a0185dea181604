/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_merge.c - files of clients, as people leave them.
 *
 * Input: which kind of file (1 byte), and what is left is its text.  What comes out takes the entry
 * again without a change, and has lost nothing.
 */
#include "compose/cloister/config/merge.h"

#include "common/base/auto.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JSON, JSON_COMMENTS, TOML, KINDS };

static int
merge(int kind, struct merge *m, char **merged, struct err *e)
{
	m->section = kind == TOML ? "mcp_servers" : "mcpServers";
	m->name = "cloister";
	m->comments = kind == JSON_COMMENTS;
	return kind == TOML ? merge_toml(m, merged, e) : merge_json(m, merged, e);
}

/* Where there was no entry to bring up to date, all that stood there stands there in its order;
 * blanks may be others. */
static void
check_kept(const char *before, const char *after)
{
	if (strstr(before, "cloister") != NULL || strstr(before, "\\u") != NULL)
		return;
	for (; *before != '\0'; before++) {
		if (strchr(" \t\r\n", *before) != NULL)
			continue;
		while (*after != '\0' && *after != *before)
			after++;
		must(*after++ != '\0');
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_auto_t *entry = json_pack("{s:s, s:[s]}", "command", "/bin/cloister", "args", "serve");
	auto_free char *text = size > 0 ? strndup((const char *)data + 1, size - 1) : NULL;
	struct err e = { 0 };
	char *merged = NULL, *again = NULL;

	if (text == NULL)
		return 0;

	int kind = data[0] % KINDS;
	struct merge m = { .text = text, .size = strlen(text), .entry = entry };

	if (merge(kind, &m, &merged, &e) < 0) {
		must(e.code == ERR_invalid_argument && e.text[0] != 0 && merged == NULL);
		return 0;
	}
	if (merged != NULL) {
		struct merge second = { .text = merged, .size = strlen(merged), .entry = entry };

		must(strstr(merged, "/bin/cloister") != NULL);
		check_kept(text, merged);
		must(merge(kind, &second, &again, &e) == 0 && again == NULL);
	}
	free(merged);
	return 0;
}
