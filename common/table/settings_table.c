/* SPDX-License-Identifier: Apache-2.0 */
/* settings_table.c - prints a table as --help and as YAML; reads nothing. */
#include "common/table/settings_table.h"

#include "common/base/auto.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const struct setting *
settings_table_row(const struct settings_table *t, size_t i)
{
	for (size_t k = 0; k < COUNT(t->table); k++)
		for (const struct setting *row = t->table[k]; row != NULL && row->name != NULL;
		     row++)
			if (i-- == 0)
				return row;
	return NULL;
}

size_t
settings_table_prefix(const char *daemon, char out[SETTINGS_NAME])
{
	int n = snprintf(out, SETTINGS_NAME, "CLOISTER_%s_", daemon);

	for (char *c = out; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	return (size_t)n;
}

/* Prints a YAML scalar. In single quotes a line break would be read as a space. */
static void
print_text(const char *text, FILE *to)
{
	bool plain = true;

	for (const char *c = text; *c != '\0'; c++)
		plain = plain && !iscntrl((unsigned char)*c);
	fputc(plain ? '\'' : '"', to);
	for (const char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c) || (!plain && (*c == '"' || *c == '\\')))
			fprintf(to, "\\x%02x", (unsigned)*c);
		else
			fputs(*c == '\'' && plain ? "''" : (const char[]){ *c, '\0' }, to);
	fputc(plain ? '\'' : '"', to);
}

static void
print_value(const struct setting *s, FILE *to)
{
	switch (s->kind) {
	case KIND_UINT:
		fprintf(to, "%" PRIu64, *(uint64_t *)s->to);
		break;
	case KIND_REAL:
		fprintf(to, "%.15g", *(double *)s->to);
		break;
	case KIND_FLAG:
		fputs(*(bool *)s->to ? "true" : "false", to);
		break;
	default:
		print_text(*(char **)s->to, to);
	}
}

void
settings_print_help(const struct settings_table *t, const char *summary)
{
	char begin[SETTINGS_NAME];

	settings_table_prefix(t->daemon, begin);
	printf("%s: %s\n\nSettings: --name=value, or %sNAME in the environment, or\n"
	       "\"%s: {name: value}\" in the YAML file that --config names; flags win, then the\n"
	       "environment.  --print-settings prints the values in force, --man a manual page,\n"
	       "--version the version.\n\n",
	    t->daemon, summary, begin, t->daemon);
	const struct setting *row;

	for (size_t i = 0; (row = settings_table_row(t, i)) != NULL; i++) {
		printf("  --");
		for (const char *c = row->name; *c != '\0'; c++)
			putchar(*c == '_' ? '-' : *c);
		printf(
		    "=%s\n        %s\n", *row->fallback == '\0' ? "''" : row->fallback, row->doc);
		if (row->kind == KIND_FLAG)
			puts("        true or false");
		else
			printf("        %" PRId64 " to %" PRId64 "%s\n", row->low, row->high,
			    row->kind == KIND_TEXT ? " bytes" : "");
		if (row->also != NULL)
			printf("        also in the environment: %s\n", row->also);
	}
}

void
settings_print_row(const struct setting *row, FILE *to)
{
	if (strcmp(row->name, "config") == 0)
		return;
	fprintf(to, "  %s: ", row->name);
	print_value(row, to);
	fputc('\n', to);
}

void
settings_print_all(const struct settings_table *t, FILE *to)
{
	const struct setting *row;

	fprintf(to, "%s:\n", t->daemon);
	for (size_t i = 0; (row = settings_table_row(t, i)) != NULL; i++)
		settings_print_row(row, to);
}
