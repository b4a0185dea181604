/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - calls on registered JSON Schemas.
 *
 * Trusts no name and no schema: whether one can be used, the executor has asked the validator, and
 * the validator checks it again whenever it is used.  A schema belongs to its principal and its
 * namespace, and does not exist for others.  Those that write take turns, so that the limits hold;
 * each is recorded in the audit log's spool before it is done.
 */
#include "snapshotd/schema.h"

#include "common/base/auto.h"
#include "common/base/hash.h"
#include "common/base/similar.h"
#include "common/base/timestamp.h"
#include "common/base/work.h"
#include "common/journal/spool.h"
#include "common/table/schemas.h"
#include "snapshotd/content.h"
#include "snapshotd/schema_store.h"
#include "snapshotd/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

struct job {
	struct work work;
	STAILQ_ENTRY(job) next;
	struct call *call;
	char owner[HASH_HEX];
	int (*allow)(struct job *, struct err *); /* for those that write: 1: it is done already */
	void (*reply)(struct job *);
	struct registered_schema about;
	struct blob schema;
	struct schema_list all;
	bool replace;
	struct err error;
};

/* The first is under way. */
static STAILQ_HEAD(, job) writers = STAILQ_HEAD_INITIALIZER(writers);

/* ---- jobs ---- */

static void
job_free(struct job *job)
{
	message_clear(MSG_registered_schema, &job->about);
	message_clear(MSG_schema_list, &job->all);
	blob_clear(&job->schema);
	free(job);
}

static struct job *
job_new(struct call *call, const char *name, struct err *e)
{
	struct job *job = calloc(1, sizeof *job);

	if (job == NULL || (name != NULL && (job->about.name = strdup(name)) == NULL)) {
		free(job);
		err_sys(e, "schema");
		return NULL;
	}
	job->call = call;
	catalog_name(&call->owner, job->owner);
	return job;
}

/* The last job that wrote gives way to the next that may. */
static void write_next(void);

static void
read_done(struct work *work)
{
	struct job *job = (struct job *)work;

	if (job->error.code == ERR_none)
		job->reply(job);
	else
		call_fail(job->call, &job->error);
	job_free(job);
}

static void
write_done(struct work *work)
{
	STAILQ_REMOVE_HEAD(&writers, next);
	read_done(work);
	write_next();
}

static void
write_next(void)
{
	struct job *job;

	while ((job = STAILQ_FIRST(&writers)) != NULL) {
		int allowed = job->allow(job, &job->error);

		if (allowed == 0) {
			work_give(&job->work);
			return;
		}
		STAILQ_REMOVE_HEAD(&writers, next);
		read_done(&job->work);
	}
}

static int
give_reader(struct job *job, void (*run)(struct work *))
{
	job->work.run = run;
	job->work.done = read_done;
	work_give(&job->work);
	return 0;
}

static int
give_writer(struct job *job, void (*run)(struct work *))
{
	bool idle = STAILQ_EMPTY(&writers);

	job->work.run = run;
	job->work.done = write_done;
	STAILQ_INSERT_TAIL(&writers, job, next);
	if (idle)
		write_next();
	return 0;
}

/* The texts are borrowed. */
static int
record_event(const struct job *job, enum event event, struct err *e)
{
	const struct owner *owner = &job->call->owner;
	char *namespace = *owner->namespace != '\0' ? (char *)(uintptr_t)owner->namespace : NULL;
	struct audit_event what = {
		.event = (int)event,
		.principal = (char *)(uintptr_t)owner->principal,
		.namespace = namespace,
		.space = namespace,
		.sha256 = job->about.sha256,
		.size = job->about.size,
		.detail = job->about.name,
	};
	int result = spool_record(&what, e);

	free(what.uid);
	return result;
}

/* ---- names ---- */

static int
add_built_in(struct schema_list *all)
{
	for (const struct schema *s = schemas; s->name != NULL; s++)
		if (texts_add(&all->built_in, s->name) < 0)
			return -1;
	return 0;
}

static const char *
name_at(const struct schema_list *all, size_t i)
{
	size_t built_in = all->built_in.count;

	return i < built_in ? all->built_in.items[i]
	                    : ((struct registered_schema *)all->schemas.items)[i - built_in].name;
}

/* "a, b and 3 more" */
static void
write_names(const struct schema_list *all, char *text, size_t size)
{
	const size_t tail = sizeof " and 10000 more",
		     count = all->built_in.count + all->schemas.count;
	size_t used = 0, i = 0;

	for (; i < count; i++) {
		const char *name = name_at(all, i);

		if (used + strlen(name) + sizeof ", " + tail > size)
			break;
		used +=
		    (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", name);
	}
	if (i < count)
		snprintf(text + used, size - used, " and %zu more", count - i);
}

/* Names what there is, and what may have been meant. */
static int
unknown(const char *owner, const char *name, struct err *e)
{
	struct schema_list all = { 0 };
	struct similar near = similar_to(name);
	char meant[80] = "", names[sizeof e->text / 2] = "";
	struct err ignored;

	schema_store_list(owner, &all, &ignored);
	add_built_in(&all);
	for (size_t i = 0; i < all.built_in.count + all.schemas.count; i++)
		similar_consider(&near, name_at(&all, i));
	if (near.best != NULL)
		snprintf(meant, sizeof meant, "did you mean %s? ", near.best);
	write_names(&all, names, sizeof names - strlen(meant) / 2);
	err_set(
	    e, ERR_not_found, "no schema has the name %.64s; %sthere are %s", name, meant, names);
	message_clear(MSG_schema_list, &all);
	return -1;
}

static int
check_name(const char *name, struct err *e)
{
	if (!schemas_is_name(name))
		return err_set(e, ERR_invalid_argument,
		    "name: only letters, digits, '_', '-' and, not first, '.' are allowed");
	if (schemas_find(name) != NULL)
		return err_set(e, ERR_invalid_argument,
		    "name: %s is a schema of this server; use another name", name);
	return 0;
}

/* ---- register ---- */

static bool
is_same(const struct registered_schema *a, const struct registered_schema *b)
{
	const char *x = a->description != NULL ? a->description : "";
	const char *y = b->description != NULL ? b->description : "";

	return a->sha256 != NULL && strcmp(a->sha256, b->sha256) == 0 && strcmp(x, y) == 0;
}

/* all: with the schema that is replaced. */
static int
check_limits(const struct job *job, const struct schema_list *all, struct err *e)
{
	const struct registered_schema *items = all->schemas.items;
	uint64_t bytes = job->about.size, count = 1;

	for (size_t i = 0; i < all->schemas.count; i++)
		if (strcmp(items[i].name, job->about.name) != 0) {
			bytes += items[i].size;
			count++;
		}
	if (count > SCHEMA_MAX)
		return err_set(e, ERR_limit_exceeded,
		    "name: you have %d schemas, and no more are allowed; remove some", SCHEMA_MAX);
	if (bytes > SCHEMA_MAX_OWNER)
		return err_set(e, ERR_limit_exceeded,
		    "schema: with it your schemas would have %" PRIu64 " bytes, over the limit of "
		    "%d; remove some",
		    bytes, SCHEMA_MAX_OWNER);
	return content_check_disk(job->about.size, e);
}

/* 1: it is there already. */
static int
check_other(struct job *job, const struct schema_list *all, struct err *e)
{
	struct registered_schema *items = all->schemas.items;

	for (size_t i = 0; i < all->schemas.count; i++) {
		if (strcmp(items[i].name, job->about.name) != 0)
			continue;
		if (!items[i].damaged && is_same(&items[i], &job->about)) {
			free(job->about.registered_at);
			job->about.registered_at = take_ptr(items[i].registered_at);
			return 1;
		}
		if (!job->replace)
			return err_set(e, ERR_invalid_argument,
			    "name: %s is registered with another schema or description; pass "
			    "replace, or use another name",
			    job->about.name);
	}
	return 0;
}

static int
may_register(struct job *job, struct err *e)
{
	struct schema_list all = { 0 };
	int result = schema_store_list(job->owner, &all, e);

	if (result == 0)
		result = check_other(job, &all, e);
	if (result == 0)
		result = check_limits(job, &all, e);
	if (result == 0)
		result = record_event(job, event_schema_registered, e);
	message_clear(MSG_schema_list, &all);
	return result;
}

static void
register_run(struct work *work)
{
	struct job *job = (struct job *)work;

	if (schema_store_put(job->owner, &job->about, &job->schema, &job->error) < 0)
		store_explain(&job->error);
}

static void
say_about(struct job *job)
{
	call_reply(job->call, &job->about);
}

int
schema_on_register(struct call *call, void *request, struct err *e)
{
	struct register_schema *ask = request;
	char digest[HASH_HEX], when[TIMESTAMP_TEXT];
	struct job *job;

	if (content_check_principal(call, e) < 0 || check_name(ask->name, e) < 0 ||
	    (job = job_new(call, ask->name, e)) == NULL)
		return -1;
	job->schema = ask->schema;
	ask->schema = (struct blob){ 0 };
	hash_hex(job->schema.data, job->schema.size, digest);
	timestamp_text(timestamp_now(), 3, when);
	job->about.description = take_ptr(ask->description);
	job->about.size = job->schema.size;
	job->about.sha256 = strdup(digest);
	job->about.registered_at = strdup(when);
	must(job->about.sha256 != NULL && job->about.registered_at != NULL);
	job->replace = ask->replace;
	job->allow = may_register;
	job->reply = say_about;
	return give_writer(job, register_run);
}

/* ---- remove ---- */

static int
may_remove(struct job *job, struct err *e)
{
	struct registered_schema about = { 0 };
	struct err why = { 0 };

	schema_store_get(job->owner, job->about.name, &about, NULL, &why);
	message_clear(MSG_registered_schema, &about);
	if (why.code == ERR_not_found)
		return unknown(job->owner, job->about.name, e);
	/* A damaged one can be removed. */
	if (why.code != ERR_none && why.code != ERR_schema_invalid) {
		*e = why;
		return store_explain(e);
	}
	return record_event(job, event_schema_removed, e);
}

static void
remove_run(struct work *work)
{
	struct job *job = (struct job *)work;

	if (schema_store_remove(job->owner, job->about.name, &job->error) < 0)
		store_explain(&job->error);
}

static void
say_gone(struct job *job)
{
	struct schema_gone reply = { .name = job->about.name, .status = (char[]){ "removed" } };

	call_reply(job->call, &reply);
}

int
schema_on_remove(struct call *call, void *request, struct err *e)
{
	const struct remove_schema *ask = request;
	struct job *job;

	if (content_check_principal(call, e) < 0)
		return -1;
	if (schemas_find(ask->name) != NULL)
		return check_name(ask->name, e);
	if ((job = job_new(call, ask->name, e)) == NULL)
		return -1;
	job->allow = may_remove;
	job->reply = say_gone;
	return give_writer(job, remove_run);
}

/* ---- get ---- */

static void
get_run(struct work *work)
{
	struct job *job = (struct job *)work;
	char *name = take_ptr(job->about.name);

	if (schema_store_get(job->owner, name, &job->about, &job->schema, &job->error) < 0) {
		if (job->error.code == ERR_not_found)
			unknown(job->owner, name, &job->error);
		else
			store_explain(&job->error);
	}
	free(name);
}

static void
say_text(struct job *job)
{
	struct schema_text reply = { .schema = job->schema };

	job->schema = (struct blob){ 0 };
	call_reply(job->call, &reply);
	blob_clear(&reply.schema);
}

int
schema_on_get(struct call *call, void *request, struct err *e)
{
	const struct get_schema *ask = request;
	struct job *job;

	if (content_check_principal(call, e) < 0 || (job = job_new(call, ask->name, e)) == NULL)
		return -1;
	job->reply = say_text;
	return give_reader(job, get_run);
}

/* ---- list ---- */

static void
list_run(struct work *work)
{
	struct job *job = (struct job *)work;

	if (schema_store_list(job->owner, &job->all, &job->error) < 0)
		store_explain(&job->error);
	else if (add_built_in(&job->all) < 0)
		err_sys(&job->error, "schemas");
}

/* Leaves out what does not begin so. */
static void
keep_those(struct schema_list *all, const char *prefix)
{
	struct registered_schema *items = all->schemas.items;
	size_t kept = 0;

	for (size_t i = 0; i < all->schemas.count; i++)
		if (strncmp(items[i].name, prefix, strlen(prefix)) == 0)
			items[kept++] = items[i];
		else
			message_clear(MSG_registered_schema, &items[i]);
	all->schemas.count = kept;
}

static void
say_all(struct job *job)
{
	if (job->about.name != NULL)
		keep_those(&job->all, job->about.name);
	call_reply(job->call, &job->all);
}

int
schema_on_list(struct call *call, void *request, struct err *e)
{
	const struct list_schemas *ask = request;
	struct job *job;

	if (content_check_principal(call, e) < 0 || (job = job_new(call, ask->prefix, e)) == NULL)
		return -1;
	job->reply = say_all;
	return give_reader(job, list_run);
}
