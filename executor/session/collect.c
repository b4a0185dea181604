/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect.c - processes the artifacts of a run one by one: a file helper determines the type of
 * each and reads pictures, and each is signed.
 *
 * The program controls how many there are and how long libmagic takes for each, so after
 * COLLECT_TYPES_MS types are derived from names.  A file that cannot be read is still an artifact.
 * Rich results of the program are hostile, too, and are brought into bounds here.
 */
#include "executor/session/collect.h"

#include "executor/session/mime.h"
#include "executor/session/sign.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "common/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_EVENTS = 32,         /* events for single artifacts; one more covers the rest */
	MAX_NAME = 4096,         /* of schema.def */
	MENDED_BYTES = 64 << 10, /* a longer text is valid UTF-8 or dropped */
};

static void step(struct collection *);

/* ---- rich results ---- */

static int
note(struct execution *reply, const char *text, struct err *e)
{
	return texts_add(&reply->notes, text) < 0 ? err_sys(e, "notes") : 0;
}

/* Text must be valid UTF-8.  A long text that is not is dropped: a driver writes UTF-8, and to
 * convert megabytes that a program wrote instead would delay all other clients. */
static bool
settle_text(struct rich *r)
{
	if (r->text.data != NULL || !mime_is_text(r->mime_type))
		return true;
	if (r->data.size > MENDED_BYTES) {
		if (memchr(r->data.data, 0, r->data.size) != NULL ||
		    !utf8_valid(r->data.data, r->data.size))
			return false;
		r->text = r->data;
		r->data = (struct blob){ 0 };
		return true;
	}
	r->text = utf8_mend(r->data.data, r->data.size);
	blob_clear(&r->data);
	return true;
}

static bool
fits(const struct collection *c, const struct rich *r)
{
	size_t bytes = r->text.size + r->data.size;
	bool picture = mime_is_picture(r->mime_type);

	return (r->text.data != NULL || r->data.data != NULL) && bytes <= COLLECT_PICTURE_BYTES &&
	       c->bytes + bytes <= COLLECT_RICH_BYTES &&
	       !(picture && c->pictures == COLLECT_PICTURES);
}

static void
count(struct collection *c, const struct rich *r)
{
	c->bytes += r->text.size + r->data.size;
	c->pictures += mime_is_picture(r->mime_type);
}

int
collect_settle(struct collection *c, struct err *e)
{
	struct execution *reply = c->reply;
	size_t kept = 0;

	for (size_t i = 0; i < reply->rich.count; i++) {
		struct rich r = reply->rich.items[i];

		/* A result that does not fit is not inspected. */
		if (kept < COLLECT_RICH && fits(c, &r) && settle_text(&r) && fits(c, &r)) {
			count(c, &r);
			reply->rich.items[kept++] = r;
		} else
			message_clear(MSG_rich, &r);
	}

	size_t dropped = reply->rich.count - kept;

	reply->rich.count = kept;
	return dropped == 0 ? 0
	                    : note(reply,
				  "Some pictures or tables were left out, because there were too "
				  "many or they were too large. Write them to files.",
				  e);
}

/* ---- artifacts ---- */

static struct artifact *
current(struct collection *c)
{
	return &c->reply->artifacts.items[c->next];
}

static void
record(const struct collection *c, const struct artifact *a)
{
	size_t left = c->reply->artifacts.count - c->next;
	char detail[64];
	struct audit_event event = {
		.event = event_artifact_signed,
		.execution_id = c->reply->execution_id,
		.session_id = c->reply->session_id,
		.sha256 = a->sha256,
		.size = a->size,
	};

	if (a->signature == NULL || c->next > MAX_EVENTS)
		return;
	if (c->next == MAX_EVENTS) {
		snprintf(detail, sizeof detail, "and %zu more files of this run", left - 1);
		event.detail = detail;
	}
	event_note(&c->owner, event);
}

static int
sign_current(struct collection *c, struct err *e)
{
	if (sign_artifact(current(c), c->reply->execution_id, e) < 0)
		return -1;
	record(c, current(c));
	c->next++;
	return 0;
}

static void
sign_and_go_on(struct collection *c)
{
	struct err e;

	if (sign_current(c, &e) < 0)
		c->done(c->self, &e);
	else
		step(c);
}

/* Finds a figure that the program both saved and left open.  A model pays for each picture that
 * it gets, so one of the two is enough. */
static struct rich *
shown_already(const struct execution *reply, const struct blob *content)
{
	for (size_t i = 0; i < reply->rich.count; i++) {
		struct rich *r = &reply->rich.items[i];

		if (r->name == NULL && r->data.data != NULL && r->data.size == content->size &&
		    memcmp(r->data.data, content->data, content->size) == 0)
			return r;
	}
	return NULL;
}

static struct rich *
show(struct collection *c, struct blob *content)
{
	struct rich *r = list_add(&c->reply->rich, sizeof *r);

	if (r == NULL)
		return NULL;
	*r = (struct rich){ .mime_type = strdup(current(c)->mime_type), .data = *content };
	*content = (struct blob){ 0 };
	count(c, r);
	return r;
}

static void
picture_read(void *self, struct blob *content, const struct err *e)
{
	struct collection *c = self;
	const char *name = current(c)->filename;
	struct rich *r = NULL;

	(void)e;
	if (content != NULL)
		r = shown_already(c->reply, content);
	if (r == NULL && content != NULL)
		r = show(c, content);
	if (r != NULL && strlen(name) <= MAX_NAME)
		r->name = strdup(name);
	sign_and_go_on(c);
}

/* A file that cannot be read is returned without content. */
static void
content_read(void *self, struct blob *content, const struct err *e)
{
	struct collection *c = self;

	(void)e;
	if (content != NULL) {
		c->content_bytes += content->size;
		current(c)->content_base64 = *content;
		*content = (struct blob){ 0 };
	}
	sign_and_go_on(c);
}

static bool
is_returned(const struct collection *c, const struct artifact *a)
{
	return c->contents && a->size <= COLLECT_CONTENT_BYTES &&
	       c->content_bytes + a->size <= COLLECT_CONTENTS_BYTES;
}

static bool
is_wanted(const struct collection *c, const struct artifact *a)
{
	struct rich r = { .mime_type = a->mime_type, .data = { a->mime_type, a->size } };

	return mime_is_picture(a->mime_type) && a->size > 0 &&
	       c->reply->rich.count < COLLECT_RICH && fits(c, &r);
}

static void
type_told(void *self, const char *type, const struct err *e)
{
	struct collection *c = self;
	struct artifact *a = current(c);

	(void)e;
	if (type != NULL) {
		char *told = strdup(mime_of(a->filename, type));

		must(told != NULL);
		free(a->mime_type);
		a->mime_type = told;
	}
	if (is_returned(c, a))
		files_read(c->workspace, a->filename, COLLECT_CONTENT_BYTES, content_read, c);
	else if (type != NULL && type[0] != 0 && is_wanted(c, a))
		files_read(c->workspace, a->filename, COLLECT_PICTURE_BYTES, picture_read, c);
	else
		sign_and_go_on(c);
}

static void
step(struct collection *c)
{
	struct err e;

	while (c->next < c->reply->artifacts.count) {
		if (loop_now_ms() < c->types_until_ms) {
			files_type(c->workspace, current(c)->filename, type_told, c);
			return;
		}
		if (sign_current(c, &e) < 0) {
			c->done(c->self, &e);
			return;
		}
	}
	c->done(c->self, NULL);
}

void
collect_start(struct collection *c)
{
	c->types_until_ms = loop_now_ms() + COLLECT_TYPES_MS;
	step(c);
}
