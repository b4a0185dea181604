/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.c - fetches files from the session of a run, which it ends afterwards.
 *
 * The program chose the names: each is opened below the directory, through no link.
 */
#include "compose/cloister/made.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NAME_BYTES = 64, /* of a picture without a file */
};

int
made_begin(struct made *m, json_t *arguments, struct err *e)
{
	const json_t *language = json_object_get(arguments, "language");
	json_t *session;
	int status;

	m->in_session = json_object_get(arguments, "session_id") != NULL;
	if (m->directory == NULL)
		return 0;
	if (mkdir(m->directory, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "--out: make %s", m->directory);
	if (m->in_session)
		return 0;
	session = transfer_call(
	    &m->transfer, "create_session", json_pack("{s:O*}", "language", language), e);
	status = session == NULL ? -1
	                         : json_object_set(arguments, "session_id",
				       json_object_get(session, "session_id"));
	json_decref(session);
	return status;
}

/* ---- one file ---- */

/* Makes the directories of a path below dir. */
static int
make_parents(int dir, const char *path, struct err *e)
{
	auto_free char *part = strdup(path);

	if (part == NULL)
		return err_sys(e, "%s", path);
	for (char *slash = strchr(part, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';

		auto_fd int made = fdio_open_beneath(dir, part, O_PATH | O_DIRECTORY, 0, e);

		if (made < 0 && e->code == ERR_not_found && mkdirat(dir, part, 0755) < 0)
			return err_sys(e, "make %s", part);
		*slash = '/';
	}
	return 0;
}

static int
open_file(int dir, const char *name, struct err *e)
{
	if (make_parents(dir, name, e) < 0)
		return -1;
	return fdio_open_beneath(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644, e);
}

static int
keep_file(const struct made *m, int dir, const json_t *run, const char *name, struct err *e)
{
	auto_fd int fd = name == NULL ? -1 : open_file(dir, name, e);

	return fd < 0 ? -1
	              : transfer_get(&m->transfer,
			    json_string_value(json_object_get(run, "session_id")), name, fd, e);
}

/* ---- pictures ---- */

static bool
is_picture(const json_t *part)
{
	const char *type = json_string_value(json_object_get(part, "type"));

	return type != NULL && strcmp(type, "image") == 0;
}

/* A figure that the program left open has no file, and gets a name by its type: figure-1.png. */
static const char *
extension(const json_t *part)
{
	static const char *const types[][2] = { { "image/png", "png" }, { "image/jpeg", "jpg" },
		{ "image/gif", "gif" }, { "image/svg+xml", "svg" }, { "image/webp", "webp" } };
	const char *type = json_string_value(json_object_get(part, "mimeType"));

	for (size_t i = 0; type != NULL && i < COUNT(types); i++)
		if (strcmp(types[i][0], type) == 0)
			return types[i][1];
	return "bin";
}

/* Does the picture with that number belong to a file of the run? */
static bool
has_file(const json_t *run, size_t number)
{
	size_t i, pictures = 0;
	const json_t *rich;

	json_array_foreach(json_object_get(run, "rich"), i, rich)
	{
		const char *type = json_string_value(json_object_get(rich, "mime_type"));

		if (type != NULL && strncmp(type, "image/", 6) == 0 && pictures++ == number)
			return json_object_get(rich, "name") != NULL;
	}
	return false;
}

static int
keep_picture(int dir, const char *name, const json_t *part, struct err *e)
{
	auto_fd int fd = open_file(dir, name, e);
	size_t size;

	return fd < 0 ? -1 : transfer_write(fd, json_object_get(part, "data"), &size, e);
}

/* ---- all of them ---- */

static int
report(const struct made *m, const char *name, const struct err *e)
{
	auto_free char *shown = strdup(name);

	must(shown != NULL);
	utf8_tame(shown);
	if (e != NULL)
		fprintf(stderr, "cloister: %s is not kept: %s\n", shown, e->text);
	else if (m->directory != NULL)
		fprintf(stderr, "cloister: %s/%s\n", m->directory, shown);
	else
		fprintf(stderr, "cloister: the program made %s; %s\n", shown,
		    m->in_session ? "`cloister get` fetches it" : "--out=DIR keeps it");
	return e != NULL ? -1 : 0;
}

/* figure-1.png and so on; beside other files the next that is free. */
static void
name_picture(const struct made *m, int dir, const json_t *part, size_t *figures, char *name)
{
	do
		snprintf(name, NAME_BYTES, "figure-%zu.%s", ++*figures, extension(part));
	while (m->pictures != NULL && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}

static int
settle_pictures(const struct made *m, int dir, const json_t *reply, const json_t *run)
{
	const json_t *content = json_object_get(json_object_get(reply, "result"), "content");
	const struct made shown = { .directory = m->pictures ?: m->directory };
	size_t i, number = 0, figures = 0;
	const json_t *part;
	int status = 0;

	json_array_foreach(content, i, part)
	{
		char name[NAME_BYTES];
		struct err e;

		if (!is_picture(part) || has_file(run, number++))
			continue;
		name_picture(m, dir, part, &figures, name);
		bool failed = shown.directory != NULL && keep_picture(dir, name, part, &e) < 0;

		status |= report(&shown, name, failed ? &e : NULL);
	}
	return status;
}

static int
settle_files(const struct made *m, int dir, const json_t *run)
{
	size_t i;
	const json_t *artifact;
	int status = 0;

	json_array_foreach(json_object_get(run, "artifacts"), i, artifact)
	{
		const char *name = json_string_value(json_object_get(artifact, "filename"));
		struct err e = { 0 };
		bool failed = m->directory != NULL && keep_file(m, dir, run, name, &e) < 0;

		status |= report(m, name ?: "?", failed ? &e : NULL);
	}
	return status;
}

int
made_end(const struct made *m, const json_t *reply, const json_t *run)
{
	auto_fd int dir =
	    m->directory == NULL ? -1 : open(m->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct err e;
	int status = settle_files(m, dir, run);

	auto_fd int pictures =
	    m->pictures == NULL ? -1 : open(m->pictures, O_PATH | O_DIRECTORY | O_CLOEXEC);

	status |= settle_pictures(m, m->pictures != NULL ? pictures : dir, reply, run);
	if (m->directory != NULL && !m->in_session)
		json_decref(transfer_call(&m->transfer, "terminate_session",
		    json_pack("{s:O*}", "session_id", json_object_get(run, "session_id")), &e));
	return status < 0 ? -1 : 0;
}
