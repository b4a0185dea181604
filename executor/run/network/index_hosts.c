/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_hosts.c - reads the indexes out of the configuration of pip, npm and apt (index_hosts.def).
 *
 * Each of the three has a format of its own, but in all of them an index is a URL behind a key, so
 * this looks for that.  Users and passwords in URLs are dropped here, so that they cannot get into
 * a box.  Trusts the operator, who wrote these files, and not that they are well-formed.
 */
#include "executor/run/network/index_hosts.h"

#include "common/base/auto.h"
#include "common/base/domain.h"
#include "common/base/fdio.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	FILE_BYTES = 1 << 20,
	URL_BYTES = 2048,
	MOST_HOSTS = 32,
};

static struct index {
	struct texts hosts;
	struct texts more; /* further URLs */
	bool chosen;       /* the URL is not the program's own default */
	char url[URL_BYTES];
} indexes[INDEX_COUNT];

enum source_kind { SOURCE_VARIABLE, SOURCE_FILES, SOURCE_BUILT_IN };

static const struct source {
	enum index_kind index;
	enum source_kind kind;
	enum use { MAIN, MORE } use;
	const char *where, *key;
} sources[] = {
/* clang-format off */
#define VARIABLE(index, use, name) { INDEX_##index, SOURCE_VARIABLE, use, name, "" },
#define FILES(index, use, pattern, key) { INDEX_##index, SOURCE_FILES, use, pattern, key },
#define BUILT_IN(index, pattern, after) { INDEX_##index, SOURCE_BUILT_IN, MAIN, pattern, after },
#include "executor/run/network/index_hosts.def"
	/* clang-format on */
};

/* ---- URLs ---- */

/* A host that is an address cannot be reached by name, so it is left out. */
static int
add_host(struct index *index, const char *host, size_t size, struct err *e)
{
	struct domain domain;
	struct err ignored;
	char text[DOMAIN_NAME + 8];

	if (size >= sizeof text || index->hosts.count == MOST_HOSTS)
		return 0;
	memcpy(text, host, size);
	text[size] = '\0';
	if (domain_read(text, &domain, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < index->hosts.count; i++)
		if (strcmp(index->hosts.items[i], text) == 0)
			return 0;
	return texts_add(&index->hosts, text) < 0 ? err_sys(e, "host of an index") : 0;
}

static bool
is_end(char c)
{
	return c == '\0' || isspace((unsigned char)c) || strchr("\"',;<>", c) != NULL;
}

/* Without what is before the host's name: a user and a password. */
static int
add_url(
    const struct source *source, const char *url, const char *host, const char *end, struct err *e)
{
	struct index *index = &indexes[source->index];
	const char *scheme = strstr(url, "://") + 3;
	char text[URL_BYTES];
	int n = snprintf(
	    text, sizeof text, "%.*s%.*s", (int)(scheme - url), url, (int)(end - host), host);

	if (n < 0 || (size_t)n >= sizeof text)
		return 0;
	if (source->use == MAIN && index->url[0] == '\0') {
		memcpy(index->url, text, (size_t)n + 1);
		index->chosen = source->kind != SOURCE_BUILT_IN;
	} else if (source->use == MORE && index->more.count < MOST_HOSTS &&
		   texts_add(&index->more, text) < 0)
		return err_sys(e, "URL of an index");
	return 0;
}

static int
take_url(const struct source *source, const char *url, size_t size, struct err *e)
{
	struct index *index = &indexes[source->index];
	const char *host = strstr(url, "://") + 3, *end = url + size, *path, *at;

	path = memchr(host, '/', (size_t)(end - host));
	if (path == NULL)
		path = end;
	at = memrchr(host, '@', (size_t)(path - host));
	while (end > path && end[-1] == '/')
		end--;
	if (at != NULL)
		host = at + 1;
	if (add_url(source, url, host, end, e) < 0)
		return -1;
	return add_host(index, host, (size_t)(path - host), e);
}

/* The next URL of http or https before end; NULL: there is none. */
static const char *
next_url(const char *text, const char *end, size_t *size)
{
	for (; (text = strstr(text, "http")) != NULL && text < end; text++) {
		if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
			continue;
		*size = 0;
		while (!is_end(text[*size]))
			++*size;
		return text;
	}
	return NULL;
}

static int
take_urls(const struct source *source, const char *text, const char *end, struct err *e)
{
	size_t size;

	while ((text = next_url(text, end, &size)) != NULL) {
		if (take_url(source, text, size, e) < 0)
			return -1;
		text += size;
	}
	return 0;
}

/* ---- files ---- */

/* In all three formats a line that begins with a blank belongs to the one before. */
static int
take_lines(const struct source *source, const char *text, struct err *e)
{
	bool counts = false;

	for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
		end = strchrnul(text, '\n');
		if (*text == '#' || *text == ';')
			continue;
		if (*text != ' ' && *text != '\t')
			counts = strncmp(text, source->key, strlen(source->key)) == 0;
		if (counts && take_urls(source, text, end, e) < 0)
			return -1;
	}
	return 0;
}

/* pip keeps the host of its files beside the index. */
static int
take_built_in(const struct source *source, const char *text, struct err *e)
{
	static const char files[] = "file_storage_domain=\"";
	const char *at = strstr(text, source->key), *url, *line, *other;
	size_t size;

	url = at != NULL ? next_url(at, at + strlen(at), &size) : NULL;
	if (url == NULL)
		return 0;
	line = strchrnul(url, '\n');
	other = strstr(url, files);
	if (other != NULL && other < line) {
		other += sizeof files - 1;
		if (add_host(&indexes[source->index], other, strcspn(other, "\"\n"), e) < 0)
			return -1;
	}
	return take_url(source, url, size, e);
}

static int
take_file(const struct source *source, const char *path, struct err *e)
{
	struct blob blob;
	struct err ignored;

	if (fdio_load_given(path, FILE_BYTES, &blob, &ignored) < 0)
		return 0;

	auto_free char *text = (char *)blob.data;

	return source->kind == SOURCE_FILES ? take_lines(source, text, e)
	                                    : take_built_in(source, text, e);
}

static int
take_files(const struct source *source, const char *root, struct err *e)
{
	char pattern[PATH_MAX];
	bool home = source->where[0] == '~';
	const char *place = home ? getenv("HOME") : "";
	glob_t found;
	int r = 0;

	if (place == NULL)
		return 0;
	if (snprintf(pattern, sizeof pattern, "%s%s%s", root, place, source->where + home) >=
		(int)sizeof pattern ||
	    glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r == 0; i++)
		r = take_file(source, found.gl_pathv[i], e);
	globfree(&found);
	return r;
}

static int
take_variable(const struct source *source, struct err *e)
{
	const char *value = getenv(source->where);

	return value == NULL ? 0 : take_urls(source, value, value + strlen(value), e);
}

int
index_hosts_settle(const char *root, struct err *e)
{
	for (size_t i = 0; i < COUNT(indexes); i++) {
		texts_clear(&indexes[i].hosts);
		texts_clear(&indexes[i].more);
		indexes[i] = (struct index){ 0 };
	}
	for (size_t i = 0; i < COUNT(sources); i++) {
		const struct source *source = &sources[i];

		if (source->kind == SOURCE_BUILT_IN && indexes[source->index].url[0] != '\0')
			continue;
		if ((source->kind == SOURCE_VARIABLE ? take_variable(source, e)
						     : take_files(source, root, e)) < 0)
			return err_add(e, "%s", source->where);
	}
	return 0;
}

const struct texts *
index_hosts_of(enum index_kind kind)
{
	return &indexes[kind].hosts;
}

const struct texts *
index_hosts_more(enum index_kind kind)
{
	return &indexes[kind].more;
}

const char *
index_hosts_url(enum index_kind kind)
{
	return indexes[kind].url[0] != '\0' ? indexes[kind].url : NULL;
}

bool
index_hosts_is_chosen(enum index_kind kind)
{
	return indexes[kind].chosen;
}
