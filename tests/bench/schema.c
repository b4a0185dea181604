/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - the validator's JSON Schema alone, for tests/bench/schema: no bus, no worker.
 *
 *   bench_schema SCHEMA DOCUMENTS     DOCUMENTS: a file with an array of documents
 *
 * Prints what making the plan took and the verdict of each document. Then, for each line with a
 * number of seconds, checks all documents again and again for so much processor time, and prints
 * how many it checked in a second of it.
 */
#include "validator/schema/cache.h"
#include "validator/schema/document.h"
#include "validator/schema/run.h"

#include "common/base/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct run_limits limits = { 1000000000, 60000 };

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
fail(const char *what)
{
	fprintf(stderr, "bench_schema: %s\n", what);
	exit(1);
}

static struct blob
read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t size = file != NULL ? getdelim(&text, &room, '\0', file) : -1;

	if (size < 0)
		fail(path);
	fclose(file);
	return (struct blob){ text, (size_t)size };
}

static const struct plan *
make_plan(const char *path)
{
	struct blob schema = read_file(path), none = { 0 };
	const struct cache_key key = { .schema = &schema, .documents = &none, .draft = DRAFT_2020 };
	struct err e;
	double before = cpu_seconds();
	const struct plan *plan = cache_plan(&key, &e);

	if (plan == NULL)
		fail(e.text);
	printf("{\"compile_ms\": %.3f", 1000 * (cpu_seconds() - before));
	blob_clear(&schema);
	return plan;
}

static bool
is_valid(const struct plan *plan, const struct view *document)
{
	struct err e;
	int got = run_check(plan, document, &limits, NULL, &e);

	if (got < 0)
		fail(e.text);
	return got > 0;
}

static void
print_verdicts(const struct plan *plan, const struct view *documents)
{
	printf(", \"verdicts\": \"");
	for (size_t i = 0; i < documents->count; i++)
		putchar(is_valid(plan, &documents->items[i]) ? '1' : '0');
	printf("\"}\n");
	fflush(stdout);
}

static void
measure(const struct plan *plan, const struct view *documents, double seconds)
{
	double begun = cpu_seconds(), took = 0;
	uint64_t checked = 0;

	for (; took < seconds; took = cpu_seconds() - begun)
		for (size_t i = 0; i < documents->count; i++, checked++)
			is_valid(plan, &documents->items[i]);
	printf("%.1f\n", (double)checked / took);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct document documents;
	struct arena arena = { 0 };
	struct view view;
	char line[64];
	struct err e;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_schema SCHEMA DOCUMENTS\n");
		return 2;
	}
	const struct plan *plan = make_plan(argv[1]);
	struct blob text = read_file(argv[2]);
	if (document_read(&documents, "documents", text.data, text.size, &e) < 0)
		fail(e.text);
	view_read(&view, &arena, documents.value);
	print_verdicts(plan, &view);
	while (fgets(line, sizeof line, stdin) != NULL)
		measure(plan, &view, strtod(line, NULL));
	arena_free(&arena);
	document_free(&documents);
	blob_clear(&text);
	cache_clear();
	return 0;
}
