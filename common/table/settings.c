/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - reads the rows of a table from four sources; prints the table as --help and YAML.
 *
 * The sources belong to the operator; their content is checked. An unknown or out-of-range setting
 * is refused by name: a limit that is silently ignored is worse than a daemon that does not start.
 */
#include "common/table/settings.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/table/man.h"
#include "common/table/replaced.h"
#include "common/table/settings_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
	YAML_BYTES = 1 << 20,
	NAME_BYTES = SETTINGS_NAME,
	GIVEN = 512,
};

extern char **environ;

/* What was loaded last, and which rows a source has set. */
static struct {
	struct settings_table table;
	const struct setting *rows[GIVEN];
	size_t count;
} given;

static const struct setting *
find(const struct settings_table *t, const char *name)
{
	const struct setting *row;

	for (size_t i = 0; (row = settings_table_row(t, i)) != NULL; i++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

/* ---- one value ---- */

static int
out_of_bounds(const struct setting *s, const char *from, const char *text, struct err *e)
{
	return err_set(e, ERR_invalid_argument,
	    "%s: %s is '%.64s', allowed is %s%" PRId64 " to %" PRId64 "%s", from, s->name, text,
	    s->kind == KIND_TEXT ? "a text of " : "a number from ", s->low, s->high,
	    s->kind == KIND_TEXT ? " bytes" : "");
}

static int
set_text(const struct setting *s, const char *from, const char *text, struct err *e)
{
	size_t size = strlen(text);
	char **to = s->to;

	if (size < (uint64_t)s->low || size > (uint64_t)s->high)
		return out_of_bounds(s, from, text, e);
	char *copy = strdup(text);
	if (copy == NULL)
		return err_sys(e, "%s: %s", from, s->name);
	free(*to);
	*to = copy;
	return 0;
}

static int
set_uint(const struct setting *s, const char *from, const char *text, struct err *e)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 ||
	    value < (uint64_t)s->low || value > (uint64_t)s->high)
		return out_of_bounds(s, from, text, e);
	*(uint64_t *)s->to = value;
	return 0;
}

static int
set_real(const struct setting *s, const char *from, const char *text, struct err *e)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(value) || value < (double)s->low ||
	    value > (double)s->high)
		return out_of_bounds(s, from, text, e);
	*(double *)s->to = value;
	return 0;
}

static int
set_flag(const struct setting *s, const char *from, const char *text, struct err *e)
{
	static const char *const words[][4] = { { "false", "no", "off", "0" },
		{ "true", "yes", "on", "1" } };

	for (size_t value = 0; value < 2; value++)
		for (size_t i = 0; i < COUNT(words[value]); i++)
			if (strcasecmp(text, words[value][i]) == 0) {
				*(bool *)s->to = value != 0;
				return 0;
			}
	return err_set(e, ERR_invalid_argument, "%s: %s is '%.64s', allowed is true or false", from,
	    s->name, text);
}

static void
note(const struct setting *s)
{
	size_t i = 0;

	while (i < given.count && given.rows[i] != s)
		i++;
	if (i == given.count && given.count < GIVEN)
		given.rows[given.count++] = s;
}

static int
set(const struct setting *s, const char *from, const char *text, struct err *e)
{
	if (strcmp(from, "default") != 0)
		note(s);
	switch (s->kind) {
	case KIND_TEXT:
		return set_text(s, from, text, e);
	case KIND_UINT:
		return set_uint(s, from, text, e);
	case KIND_REAL:
		return set_real(s, from, text, e);
	case KIND_FLAG:
		return set_flag(s, from, text, e);
	default:
		must(!"not a kind of setting");
		return -1;
	}
}

/* ---- the sources ---- */

static int
read_defaults(const struct settings_table *t, struct err *e)
{
	const struct setting *row;

	for (size_t i = 0; (row = settings_table_row(t, i)) != NULL; i++) {
		if (row->kind == KIND_TEXT)
			*(char **)row->to = NULL;
		if (set(row, "default", row->fallback, e) < 0)
			return -1;
	}
	return 0;
}

static const char *
scalar(yaml_document_t *doc, int index, const char *file, struct err *e)
{
	yaml_node_t *node = yaml_document_get_node(doc, index);
	const char *text = (const char *)node->data.scalar.value;

	if (node->type == YAML_SCALAR_NODE && strlen(text) == node->data.scalar.length)
		return text;
	err_set(e, ERR_invalid_argument, "%s:%zu: single value required", file,
	    node->start_mark.line + 1);
	return NULL;
}

static int
read_mapping(const struct settings_table *t, yaml_document_t *doc, const yaml_node_t *map,
    const char *file, struct err *e)
{
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		const char *name = scalar(doc, p->key, file, e);
		const char *value = name == NULL ? NULL : scalar(doc, p->value, file, e);
		const struct setting *row = value == NULL ? NULL : find(t, name);

		if (value == NULL)
			return -1;
		if (row == NULL || strcmp(name, "config") == 0)
			return err_set(e, ERR_invalid_argument,
			    "%s: %s: unknown setting '%.64s'; --help lists them", file, t->daemon,
			    name);
		for (yaml_node_pair_t *other = map->data.mapping.pairs.start; other < p; other++)
			if (strcmp(scalar(doc, other->key, file, e), name) == 0)
				return err_set(
				    e, ERR_invalid_argument, "%s: %s given twice", file, name);
		if (set(row, file, value, e) < 0)
			return -1;
	}
	return 0;
}

/* A key of a flat file of a replaced system. */
static int
read_old_key(const struct settings_table *t, const struct replaced_key *key, yaml_document_t *doc,
    int index, const char *file, struct err *e)
{
	char name[REPLACED_BYTES], ours[REPLACED_BYTES];

	if (key->setting == NULL) {
		replaced_note(key);
		return 0;
	}

	const char *value = scalar(doc, index, file, e);

	if (value == NULL || strcmp(key->daemon, t->daemon) != 0)
		return value == NULL ? -1 : 0;
	replaced_name(key->setting, name);
	must(find(t, name) != NULL);
	return set(find(t, name), file, replaced_value(key->setting, value, ours), e);
}

static int
read_document(const struct settings_table *t, yaml_document_t *doc, const char *file, struct err *e)
{
	yaml_node_t *root = yaml_document_get_root_node(doc);

	if (root == NULL) /* an empty file */
		return 0;
	if (root->type != YAML_MAPPING_NODE)
		return err_set(e, ERR_invalid_argument, "%s: not a mapping of daemons", file);
	for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top;
	     p++) {
		const char *name = scalar(doc, p->key, file, e);
		yaml_node_t *value = yaml_document_get_node(doc, p->value);

		if (name == NULL)
			return -1;
		/* The name of a daemon with a mapping is its section, also if it was a key. */
		bool section =
		    value->type == YAML_MAPPING_NODE && edge_peer_parse(name) != PEER_none;

		if (replaced_key(name) != NULL && !section) {
			if (read_old_key(t, replaced_key(name), doc, p->value, file, e) < 0)
				return -1;
			continue;
		}
		if (edge_peer_parse(name) == PEER_none && strcmp(name, "supervisor") != 0 &&
		    strcmp(name, t->daemon) != 0)
			return err_set(
			    e, ERR_invalid_argument, "%s: unknown daemon '%.64s'", file, name);
		if (value->type != YAML_MAPPING_NODE)
			return err_set(
			    e, ERR_invalid_argument, "%s: %s: not a mapping", file, name);
		if (strcmp(name, t->daemon) == 0 && read_mapping(t, doc, value, file, e) < 0)
			return -1;
	}
	return 0;
}

static int
parse_yaml(const struct settings_table *t, const struct blob *text, const char *file, struct err *e)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	int rc;

	must(yaml_parser_initialize(&parser));
	yaml_parser_set_input_string(&parser, text->data, text->size);
	if (!yaml_parser_load(&parser, &doc)) {
		rc = err_set(e, ERR_invalid_argument, "%s:%zu: %s", file,
		    parser.problem_mark.line + 1, parser.problem ? parser.problem : "not YAML");
	} else {
		rc = read_document(t, &doc, file, e);
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	return rc;
}

static int
read_yaml(const struct settings_table *t, const char *file, struct err *e)
{
	struct blob text = { 0 };

	if (fdio_load_given(file, YAML_BYTES, &text, e) < 0)
		return err_add(e, "config");
	int rc = parse_yaml(t, &text, file, e);
	blob_clear(&text);
	return rc;
}

/* The value of the first of the old variables that is set. */
static const char *
old_value(const struct setting *s, char name[REPLACED_BYTES], char ours[REPLACED_BYTES])
{
	for (const char *at = s->also == NULL ? "" : s->also; *at != '\0';) {
		size_t n = replaced_name(at, name);

		if (getenv(name) != NULL)
			return replaced_value(at, getenv(name), ours);
		at += n + strspn(at + n, " ");
	}
	return NULL;
}

static int
read_old_names(const struct settings_table *t, const char *only, struct err *e)
{
	char name[REPLACED_BYTES], ours[REPLACED_BYTES];

	const struct setting *row;

	for (size_t i = 0; (row = settings_table_row(t, i)) != NULL; i++) {
		const char *value = old_value(row, name, ours);

		if (value == NULL || (only != NULL && strcmp(only, row->name) != 0))
			continue;
		if (set(row, name, value, e) < 0)
			return -1;
	}
	return 0;
}

/* name: the part after the prefix; value: the part after '='. */
static int
read_variable(const struct settings_table *t, const char *name, const char *only, struct err *e)
{
	const char *value = strchr(name, '=') + 1;
	char lower[NAME_BYTES];

	snprintf(lower, sizeof lower, "%.*s", (int)(value - 1 - name), name);
	for (char *c = lower; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	if (only != NULL && strcmp(only, lower) != 0)
		return 0;
	const struct setting *row = find(t, lower);
	if (row == NULL)
		return err_set(e, ERR_invalid_argument,
		    "environment: unknown setting %s of %s; --help lists them", lower, t->daemon);
	return set(row, "environment", value, e);
}

/* only: reads that row alone and reports no other errors; NULL: all rows. */
static int
read_environment(const struct settings_table *t, const char *only, struct err *e)
{
	char begin[NAME_BYTES];
	size_t skip = settings_table_prefix(t->daemon, begin);

	if (read_old_names(t, only, e) < 0)
		return -1;
	for (char **variable = environ; *variable != NULL; variable++)
		if (strncmp(*variable, begin, skip) == 0 && strchr(*variable, '=') != NULL &&
		    read_variable(t, *variable + skip, only, e) < 0)
			return -1;
	return 0;
}

/* The row of "max-open" or "no-max-open". *value: as given or implied; NULL: the next argument. */
static const struct setting *
find_flag(const struct settings_table *t, const char *flag, const char **value)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(flag, "="), flag);
	for (char *c = name; (c = strchr(c, '-')) != NULL;)
		*c = '_';
	*value = strchr(flag, '=');
	const struct setting *row = find(t, name);
	if (*value != NULL) {
		*value += 1;
		return row;
	}
	if (row == NULL && strncmp(name, "no_", 3) == 0) {
		row = find(t, name + 3);
		*value = "false";
		return row != NULL && row->kind == KIND_FLAG ? row : NULL;
	}
	if (row != NULL && row->kind == KIND_FLAG)
		*value = "true";
	return row;
}

static int
read_flags(const struct settings_table *t, const char *only, int argc, char **argv, struct err *e)
{
	for (int i = 1; i < argc; i++) {
		const char *value, *flag = argv[i];

		if (strncmp(flag, "--", 2) != 0)
			return err_set(e, ERR_invalid_argument,
			    "unexpected argument '%.64s'; settings are --name=value, see --help",
			    flag);
		const struct setting *row = find_flag(t, flag + 2, &value);
		if (row == NULL)
			return err_set(e, ERR_invalid_argument,
			    "unknown flag '%.64s'; --help lists them", flag);
		if (value == NULL && (value = argv[++i]) == NULL)
			return err_set(e, ERR_invalid_argument, "%s: value required", flag);
		if (only != NULL && strcmp(only, row->name) != 0)
			continue;
		if (set(row, flag, value, e) < 0)
			return -1;
	}
	return 0;
}

int
settings_read(const char *daemon, const struct setting *common, const struct setting *own, int argc,
    char **argv, struct err *e)
{
	const struct settings_table t = { daemon, { common, own } };
	const struct setting *config = find(&t, "config");

	given.table = t;
	given.count = 0;
	if (read_defaults(&t, e) < 0)
		return -1;
	if (config != NULL) {
		if (read_environment(&t, "config", e) < 0 ||
		    read_flags(&t, "config", argc, argv, e) < 0)
			return -1;
		const char *file = *(char **)config->to;
		must(file != NULL);
		if (*file != '\0' && read_yaml(&t, file, e) < 0)
			return -1;
	}
	return read_environment(&t, NULL, e) < 0 ? -1 : read_flags(&t, NULL, argc, argv, e);
}

/* Removes a word from the arguments; true: it was present. */
static bool
take_word(int *argc, char **argv, const char *word)
{
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], word) == 0) {
			memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
			*argc -= 1;
			return true;
		}
	return false;
}

void
settings_load(const char *daemon, const char *summary, const struct setting *common,
    const struct setting *own, int argc, char **argv)
{
	const struct settings_table t = { daemon, { common, own } };
	struct err e;

	if (take_word(&argc, argv, "--help")) {
		settings_print_help(&t, summary);
		exit(0);
	}
	if (take_word(&argc, argv, "--man")) {
		man_daemon(daemon, summary, common, own);
		exit(0);
	}
	if (take_word(&argc, argv, "--version")) {
		puts(CLOISTER_VERSION);
		exit(0);
	}
	bool print = take_word(&argc, argv, "--print-settings");
	bool print_given = take_word(&argc, argv, "--print-given");
	if (settings_read(daemon, common, own, argc, argv, &e) < 0) {
		fprintf(stderr, "%s: %s\n", daemon, e.text);
		exit(2);
	}
	if (print)
		settings_print_all(&t, stdout);
	for (size_t i = 0; print_given && i < given.count; i++)
		settings_print_row(given.rows[i], stdout);
	if (print || print_given)
		exit(0);
}

bool
settings_given(const char *name)
{
	for (size_t i = 0; i < given.count; i++)
		if (strcmp(given.rows[i]->name, name) == 0)
			return true;
	return false;
}

char *
settings_text(void)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL)
		return NULL;
	settings_print_all(&given.table, to);
	return fclose(to) == 0 ? text : NULL;
}
