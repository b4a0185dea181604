/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - the validator's check of CSV alone, for tests/bench/csv: no bus, no worker.
 *
 *   bench_csv MODE TABLE TYPES     MODE: structure, inferred or typed; TYPES: type_constraints
 *
 * Prints how many rows the table has. Then, for each line with a number of seconds, checks it again
 * and again for so much processor time, and prints how many MB it checked in a second of it.
 */
#include "validator/csv/csv.h"

#include "common/base/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	fprintf(stderr, "bench_csv: %s\n", what);
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

static uint64_t
check(struct validate_csv_data *ask)
{
	struct csv_report report = { 0 };
	struct err e;

	if (csv_check(ask, &report, &e) < 0)
		fail(e.text);
	if (!report.valid)
		fail(report.message);
	uint64_t rows = report.row_count;
	message_clear(MSG_csv_report, &report);
	return rows;
}

static void
measure(struct validate_csv_data *ask, double seconds)
{
	double begun = cpu_seconds(), took = 0;
	size_t checked = 0;

	for (; took < seconds; took = cpu_seconds() - begun, checked += ask->csv_content.size)
		check(ask);
	printf("%.1f\n", (double)checked / took / 1e6);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char line[64];

	if (argc != 4) {
		fprintf(stderr, "usage: bench_csv structure|inferred|typed TABLE TYPES\n");
		return 2;
	}
	struct validate_csv_data ask = {
		.csv_content = read_file(argv[2]),
		.has_header = true,
		.statistics = strcmp(argv[1], "inferred") == 0,
		.max_errors = 1,
	};
	if (strcmp(argv[1], "typed") == 0)
		ask.type_constraints = read_file(argv[3]);
	printf("{\"rows\": %" PRIu64 "}\n", check(&ask));
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) != NULL)
		measure(&ask, strtod(line, NULL));
	message_clear(MSG_validate_csv_data, &ask);
	return 0;
}
