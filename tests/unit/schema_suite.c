/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_suite.c - the official JSON-Schema-Test-Suite against the validator's plans.
 *
 *   schema_suite SUITE DRAFT...      DRAFT: a directory of SUITE/tests, such as draft2020-12
 *
 * Prints the counts of each draft, and each case that fails.  Format assertions are on where the
 * suite asks for them: in optional/format and optional/content.
 */
#include "validator/schema/cache.h"
#include "validator/schema/document.h"
#include "validator/schema/run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *directory;
	enum draft draft;
} drafts[] = { { "draft4", DRAFT_4 }, { "draft6", DRAFT_6 }, { "draft7", DRAFT_7 },
	{ "draft2019-09", DRAFT_2019 }, { "draft2020-12", DRAFT_2020 } };

static struct {
	size_t passed, failed;
} required, optional;

static json_t *remotes;

static void
add_remote(const char *path, const char *uri)
{
	json_t *document = json_load_file(path, JSON_DECODE_ANY, NULL);

	if (document == NULL) {
		fprintf(stderr, "%s: not JSON\n", path);
		exit(2);
	}
	json_object_set_new(remotes, uri, document);
}

static void
add_remotes(const char *directory, const char *uri)
{
	DIR *open = opendir(directory);
	char path[4096], name[4096];

	if (open == NULL)
		return;
	for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		snprintf(name, sizeof name, "%s/%s", uri, entry->d_name);
		if (strstr(entry->d_name, ".json") != NULL)
			add_remote(path, name);
		else
			add_remotes(path, name);
	}
	closedir(open);
}

static const char *
verdict(const struct plan *plan, const json_t *data, struct err *e)
{
	const struct run_limits limits = { 10000000, 10000 };
	struct problems problems = { .most = 256, .detailed = true };
	struct arena arena = { 0 };
	struct view view;
	int flag, all;

	if (plan == NULL)
		return "no plan";
	view_read(&view, &arena, data);
	flag = run_check(plan, &view, &limits, NULL, e);
	all = run_check(plan, &view, &limits, &problems, e);
	const char *said = flag < 0      ? "limit"
	                   : flag != all ? "differs"
	                   : flag        ? "valid"
	                                 : "invalid";
	if (flag == 0 && all == 0 && problems.count == 0)
		said = "no problem";
	problem_clear(&problems);
	arena_free(&arena);
	return said;
}

static void
run_group(const char *file, json_t *group, enum draft draft, bool formats, bool needed)
{
	struct err e = { 0 };
	struct plan *plan =
	    plan_new(&(struct plan_spec){ .schema = json_object_get(group, "schema"),
			 .documents = remotes,
			 .draft = draft,
			 .formats = formats },
		&e);
	json_t *test;
	size_t i;

	json_array_foreach(json_object_get(group, "tests"), i, test)
	{
		const char *said = verdict(plan, json_object_get(test, "data"), &e);
		bool valid = json_is_true(json_object_get(test, "valid"));
		bool passed = strcmp(said, valid ? "valid" : "invalid") == 0;

		if (needed)
			passed ? required.passed++ : required.failed++;
		else
			passed ? optional.passed++ : optional.failed++;
		if (!passed)
			printf("%s: %s: %s: expected %s, got %s %s\n", file,
			    json_string_value(json_object_get(group, "description")),
			    json_string_value(json_object_get(test, "description")),
			    valid ? "valid" : "invalid", said, e.text);
	}
	plan_free(plan);
}

static int
read_file(const char *path, struct document *document)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	struct err e;

	*document = (struct document){ 0 };
	if (file == NULL)
		return -1;
	ssize_t size = getdelim(&text, &room, '\0', file);
	int got = size < 0 ? -1 : document_read(document, path, text, (size_t)size, &e);
	free(text);
	fclose(file);
	return got;
}

static void
run_file(const char *path, enum draft draft, bool needed)
{
	bool formats = strstr(path, "/format/") != NULL || strstr(path, "/content.json") != NULL;
	struct document groups;
	json_t *group;
	size_t i;

	if (read_file(path, &groups) < 0) {
		printf("%s: not JSON\n", path);
		optional.failed++;
		return;
	}
	json_array_foreach(groups.value, i, group)
	    run_group(path, group, draft, formats && !needed, needed);
	document_free(&groups);
}

static void
run_directory(const char *directory, enum draft draft, bool needed)
{
	struct dirent **entries;
	char path[4096];
	int n = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		snprintf(path, sizeof path, "%s/%s", directory, name);
		if (strstr(name, ".json") != NULL)
			run_file(path, draft, needed);
		else if (name[0] != '.')
			run_directory(path, draft, false);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int
main(int argc, char **argv)
{
	char path[4096];
	size_t failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: schema_suite SUITE\n");
		return 2;
	}
	remotes = json_object();
	snprintf(path, sizeof path, "%s/remotes", argv[1]);
	add_remotes(path, "http://localhost:1234");
	for (size_t d = 0; d < sizeof drafts / sizeof drafts[0]; d++) {
		memset(&required, 0, sizeof required);
		memset(&optional, 0, sizeof optional);
		snprintf(path, sizeof path, "%s/tests/%s", argv[1], drafts[d].directory);
		run_directory(path, drafts[d].draft, true);
		printf("%s: required %zu passed, %zu failed; optional %zu passed, %zu failed\n",
		    drafts[d].directory, required.passed, required.failed, optional.passed,
		    optional.failed);
		failed += required.failed + optional.failed + (required.passed == 0);
	}
	json_decref(remotes);
	cache_clear();
	return failed != 0;
}
