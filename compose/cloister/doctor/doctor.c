/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - walks checks.def and prints what each row found, for a person or as JSON.
 *
 * Trusts the user who runs it. Texts of files and daemons are made printable.
 */
#include "compose/cloister/doctor/doctor.h"

#include "compose/cloister/commands.h"
#include "compose/cloister/doctor/checks.h"
#include "compose/cloister/place.h"
#include "compose/cloister/words.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct check {
	const char *name, *doc, *remedy;
	void (*function)(const struct machine *, struct diagnosis *);
} checks[] = {
#define CHECK(name, function, doc, remedy) { #name, doc, remedy, function },
#include "compose/cloister/doctor/checks.def"
};
/* clang-format on */

enum { CHECKS = COUNT(checks) };

struct report {
	struct diagnosis all[CHECKS];
	size_t counts[DIAGNOSIS_COUNT];
};

static const char *
remedy_of(const struct check *c, const struct diagnosis *f)
{
	return f->remedy[0] != '\0' ? f->remedy : c->remedy;
}

static bool
is_good(const struct diagnosis *f)
{
	return f->state == DIAGNOSIS_ok || f->state == DIAGNOSIS_unchecked;
}

static void
look(struct report *r)
{
	struct machine m;

	machine_open(&m);
	for (size_t i = 0; i < CHECKS; i++) {
		struct diagnosis *f = &r->all[i];

		checks[i].function(&m, f);
		utf8_tame(f->text);
		r->counts[f->state]++;
	}
	machine_close(&m);
}

/* ---- for programs ---- */

static json_t *
as_json(const struct check *c, const struct diagnosis *f)
{
	json_t *row = json_pack("{s:s, s:s, s:s}", "name", c->name, "state",
	    diagnosis_names[f->state], "found", f->text);

	must(row != NULL);
	if (!is_good(f)) {
		json_object_set_new(row, "effect", json_string(c->doc));
		json_object_set_new(row, "remedy", json_string(remedy_of(c, f)));
	}
	return row;
}

static void
print_json(const struct report *r)
{
	json_t *all = json_object(), *rows = json_array();

	json_object_set_new(all, "version", json_string(CLOISTER_VERSION));
	for (size_t i = 0; i < DIAGNOSIS_COUNT; i++)
		json_object_set_new(
		    all, diagnosis_names[i], json_integer((json_int_t)r->counts[i]));
	for (size_t i = 0; i < CHECKS; i++)
		json_array_append_new(rows, as_json(&checks[i], &r->all[i]));
	json_object_set_new(all, "checks", rows);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

/* ---- for people ---- */

static void
print_row(const struct check *c, const struct diagnosis *f)
{
	printf("%-9s %-16s %s\n", diagnosis_names[f->state], c->name, f->text);
	if (!is_good(f))
		printf("%-26s %s\n%-26s try: %s\n", "", c->doc, "", remedy_of(c, f));
}

/* Of what is not checked the first row says why. */
static void
print_sum(const struct report *r)
{
	size_t i = 0;

	printf("%zu ok, %zu weaker, %zu missing", r->counts[DIAGNOSIS_ok],
	    r->counts[DIAGNOSIS_weaker], r->counts[DIAGNOSIS_missing]);
	while (i < CHECKS && r->all[i].state != DIAGNOSIS_unchecked)
		i++;
	if (i < CHECKS)
		printf(", %zu not checked: %s", r->counts[DIAGNOSIS_unchecked], r->all[i].text);
	putchar('\n');
}

static void
print(const struct report *r, bool brief)
{
	for (size_t i = 0; i < CHECKS; i++)
		if (!brief || !is_good(&r->all[i]))
			print_row(&checks[i], &r->all[i]);
	print_sum(r);
}

/* ---- the command ---- */

/* Removes a flag that is not a setting from the command line. */
static bool
take_flag(int *argc, char **argv, const char *flag)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], flag) == 0) {
			memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
			*argc -= 1;
			return true;
		}
	return false;
}

int
doctor_run(int argc, char **argv)
{
	static struct report r;
	bool json = take_flag(&argc, argv, "--json"), brief = take_flag(&argc, argv, "--brief");

	if (words_help(&commands[COMMAND_doctor], argc, argv))
		return 0;
	place_load("show what this machine has and lacks", argc, argv);
	look(&r);
	if (json)
		print_json(&r);
	else
		print(&r, brief);
	return r.counts[DIAGNOSIS_missing] > 0;
}
