/* SPDX-License-Identifier: Apache-2.0 */
/*
 * man.c - manual pages in mdoc(7).
 *
 * Trusts the tables to hold plain sentences.  A backslash, and a dot or an apostrophe at the start
 * of a line, would be a macro to mandoc and groff; both are escaped.
 */
#include "common/table/man.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
man_begin(const char *name, const char *section, const char *summary)
{
	printf(".Dd November 25, 2026\n.Dt %s %s\n.Os cloister %s\n.Sh NAME\n.Nm %s\n.Nd ", name,
	    section, CLOISTER_VERSION, name);
	man_text(summary);
}

void
man_heading(const char *title)
{
	printf(".Sh %s\n", title);
}

/* One line per sentence, as mdoc requires. */
void
man_text(const char *text)
{
	bool begins = true;

	for (; *text != '\0'; text++) {
		if (begins && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		begins = *text == '.' && text[1] == ' ';
		if (begins)
			text++;
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (begins)
			fputs(".\n", stdout);
		else
			putchar(*text == '\n' ? ' ' : *text);
	}
	putchar('\n');
}

void
man_list(void)
{
	puts(".Bl -tag -width Ds");
}

void
man_item(const char *tag)
{
	fputs(".It Sy ", stdout);
	man_text(tag);
}

void
man_list_end(void)
{
	puts(".El");
}

enum {
	SHORT = 200, /* a longer default is only in --help */
};

static void
print_bounds(const struct setting *row)
{
	/* The path depends on the user. */
	bool known = row->fallback[0] != '\0' && row->fallback[0] != '/';

	if (row->kind == KIND_FLAG)
		puts("True or false.");
	else
		printf("From %" PRId64 " to %" PRId64 "%s.\n", row->low, row->high,
		    row->kind == KIND_TEXT ? " bytes" : "");
	if (known && strlen(row->fallback) < SHORT) {
		fputs("Default: ", stdout);
		man_text(row->fallback);
	}
	if (row->also != NULL) {
		fputs("Also in the environment as ", stdout);
		man_text(row->also);
	}
}

static void
print_settings(const struct setting *row)
{
	char flag[80];

	for (; row != NULL && row->name != NULL; row++) {
		snprintf(flag, sizeof flag, "--%s", row->name);
		for (char *c = flag + 2; (c = strchr(c, '_')) != NULL;)
			*c = '-';
		man_item(flag);
		man_text(row->doc);
		print_bounds(row);
	}
}

void
man_daemon(const char *daemon, const char *summary, const struct setting *common,
    const struct setting *own)
{
	char name[80];

	snprintf(name, sizeof name, "cloister-%s", daemon);
	man_begin(name, "8", summary);
	man_heading("SYNOPSIS");
	printf(".Nm %s\n.Op Fl -help | -print-settings | -version | -man\n"
	       ".Op Fl -config Ns = Ns Ar file\n.Op Fl -setting Ns = Ns Ar value ...\n",
	    name);
	man_heading("SETTINGS");
	man_text("A setting is a flag, a variable of the environment (CLOISTER_, the daemon, an "
		 "underscore and the setting, in capitals) or a line of the YAML file in the "
		 "daemon's section. Flags override the environment, and that overrides the file. "
		 "An unknown or out-of-range setting is an error.");
	man_list();
	print_settings(own);
	print_settings(common);
	man_list_end();
	man_heading("EXIT STATUS");
	man_text("0 after SIGTERM, 2 for a wrong setting, 1 for any other error.");
	puts(".Sh SEE ALSO\n.Xr cloister 1 , .Xr cloister.yaml 5");
}
