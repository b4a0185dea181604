/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences.c - compares the version of this command, and what its sources give to a daemon
 * (--print-given), with those of the running one (NAME.settings of the run directory).
 *
 * Each daemon reads its own sources, so its table of settings is the only one.  A command without a
 * file or variable of settings starts none of them.
 */
#include "compose/cloister/differences.h"

#include "compose/cloister/place.h"
#include "compose/cloister/printed.h"
#include "compose/cloister/reach.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/utf8.h"
#include "common/daemon/published.h"
#include "common/table/edges.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	SETTINGS_BYTES = 1 << 18,
	SHOWN = 80, /* of a value */
};

enum rule { NOTHING, LESS, ON, OFF, OTHER };

static const struct {
	const char *daemon, *name;
	enum rule rule;
} tightens[] = {
#define TIGHTENS(daemon, name, rule) { #daemon, #name, rule },
#include "compose/cloister/tightens.def"
};

struct differences {
	char *text; /* one for each, separated by semicolons */
	size_t size;
	FILE *to;
	bool strict;
};

/* ---- what was asked ---- */

static bool
is_of_daemon(const char *variable)
{
	char begin[64];

	if (strncmp(variable, "SANDBOX", 7) == 0)
		return true;
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++) {
		int n = snprintf(begin, sizeof begin, "CLOISTER_%s_", edge_peer_name(peer));

		for (char *c = begin; *c != '\0'; c++)
			*c = (char)toupper((unsigned char)*c);
		if (peer != PEER_gateway && strncmp(variable, begin, (size_t)n) == 0)
			return true;
	}
	return false;
}

static bool
gives_any(void)
{
	if (place.config[0] != '\0')
		return true;
	for (char **at = environ; *at != NULL; at++)
		if (is_of_daemon(*at))
			return true;
	return false;
}

/* ---- what runs ---- */

static char *
running_of(const char *name)
{
	char file[64];
	struct blob text = { 0 };
	struct err e;
	auto_fd int run = open(place.run, O_PATH | O_DIRECTORY | O_CLOEXEC);

	snprintf(file, sizeof file, "%s.settings", name);
	return run >= 0 && fdio_load(run, file, SETTINGS_BYTES, &text, &e) == 0 ? text.data : NULL;
}

/* ---- comparing ---- */

static double
limit(const char *value)
{
	double number = strtod(value, NULL);

	return number == 0 ? INFINITY : number;
}

static bool
is_stricter(const char *daemon, const char *name, size_t size, const char *here, const char *there)
{
	enum rule rule = NOTHING;

	for (size_t i = 0; i < COUNT(tightens); i++)
		if (strcmp(tightens[i].daemon, daemon) == 0 && strlen(tightens[i].name) == size &&
		    memcmp(tightens[i].name, name, size) == 0)
			rule = tightens[i].rule;
	return rule == OTHER || (rule == LESS && limit(here) < limit(there)) ||
	       (rule == ON && strncmp(here, "true", 4) == 0) ||
	       (rule == OFF && strncmp(here, "false", 5) == 0);
}

static const char *
separator(struct differences *d)
{
	return ftell(d->to) > 0 ? "; " : "";
}

static void
compare_line(struct differences *d, const char *daemon, const char *line, const char *running)
{
	size_t name_size = strcspn(line, ":"), here_size, there_size;
	const char *here = line + name_size + 2,
		   *there = printed_value(running, line, name_size, &there_size);
	static const char *const shared[] = { "run", "state", "config", "log_level" };

	for (size_t i = 0; i < COUNT(shared); i++)
		if (strlen(shared[i]) == name_size && strncmp(line, shared[i], name_size) == 0)
			return;
	here_size = strcspn(here, "\n");
	if (there != NULL && here_size == there_size && memcmp(here, there, here_size) == 0)
		return;
	fprintf(d->to, "%s%s.%.*s is %.*s, not %.*s", separator(d), daemon, (int)name_size, line,
	    there == NULL ? 7 : (int)(there_size < SHOWN ? there_size : SHOWN),
	    there == NULL ? "unknown" : there, (int)(here_size < SHOWN ? here_size : SHOWN), here);
	d->strict = d->strict || there == NULL || is_stricter(daemon, line, name_size, here, there);
}

/* One that runs from another build may not know the settings, or refuse the calls, of this one. */
static void
compare_version(struct differences *d, const char *daemon, const char *running)
{
	size_t size;
	const char *version;

	if (strncmp(running, PUBLISHED_VERSION, strlen(PUBLISHED_VERSION)) == 0)
		return;
	version = strncmp(running, PUBLISHED, strlen(PUBLISHED)) == 0 ? running + strlen(PUBLISHED)
	                                                              : "unknown";
	size = strcspn(version, "\n");
	fprintf(d->to, "%s%s has version %.*s, not " CLOISTER_VERSION, separator(d), daemon,
	    (int)(size < SHOWN ? size : SHOWN), version);
}

static void
compare(struct differences *d, const char *daemon, bool settings)
{
	auto_free char *running = running_of(daemon), *given = NULL;

	if (running != NULL)
		compare_version(d, daemon, running);
	if (running != NULL && settings)
		given = printed_by(daemon, "--print-given");
	for (const char *line = given; line != NULL && strncmp(line, "  ", 2) == 0;) {
		const char *end = strchr(line, '\n');

		if (end == NULL)
			return;
		compare_line(d, daemon, line + 2, running);
		line = end + 1;
	}
}

static char *
find(bool *strict)
{
	struct differences d = { 0 };
	auto_free char *list = NULL;
	char *line = NULL;

	const bool settings = gives_any();

	d.to = open_memstream(&d.text, &d.size);
	if (d.to == NULL)
		return NULL;
	for (enum peer peer = PEER_FIRST; peer < PEER_COUNT; peer++)
		if (peer != PEER_gateway)
			compare(&d, edge_peer_name(peer), settings);
	must(fclose(d.to) == 0);
	list = d.text;
	*strict = d.strict;
	if (d.size == 0)
		return NULL;
	utf8_tame(list);
	must(asprintf(&line,
		 "daemons run otherwise than this command would start them: %s. `cloister down` "
		 "stops them, and the next start applies yours",
		 list) > 0);
	return line;
}

char *
differences_line(void)
{
	bool strict;

	return find(&strict);
}

int
differences_check(struct err *e)
{
	bool strict = false;
	auto_free char *line = find(&strict);

	if (line == NULL)
		return 0;
	reach_differ(line);
	fprintf(stderr, "cloister: %s\n", line);
	if (!strict || place.accept_running)
		return 0;
	return err_set(e, ERR_unavailable,
	    "a stricter setting is not in force, so this client is not served; --accept-running "
	    "serves it");
}
