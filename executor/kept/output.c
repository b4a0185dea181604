/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - a table of texts; the text of a request is moved into it, not copied. */
#include "executor/kept/output.h"

#include "executor/kept/code.h"
#include "executor/options.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <string.h>

enum {
	SLOTS = 256,
};

struct output {
	uint64_t number; /* the oldest has the lowest; 0: free */
	char *id, *name;
	struct owner owner;
	struct blob text;
};

static struct output table[SLOTS];
static size_t held; /* bytes of all texts */
static uint64_t last;

static void
drop(struct output *o)
{
	held -= o->text.size;
	free(o->id);
	free(o->name);
	blob_clear(&o->text);
	*o = (struct output){ 0 };
}

static bool
is_of(const struct output *o, const struct owner *owner)
{
	return o->number != 0 && owner_equal(&o->owner, owner);
}

/* The oldest of that owner; NULL: of all. */
static struct output *
oldest(const struct owner *owner)
{
	struct output *found = NULL;

	for (struct output *o = table; o < table + SLOTS; o++)
		if (o->number != 0 && (found == NULL || o->number < found->number) &&
		    (owner == NULL || is_of(o, owner)))
			found = o;
	return found;
}

/* Would the owner hold more than half of the limit? */
static bool
has_most(const struct owner *owner, size_t size)
{
	size_t count = 1;

	for (const struct output *o = table; o < table + SLOTS; o++)
		if (is_of(o, owner)) {
			size += o->text.size;
			count++;
		}
	return count > 1 && (size > options.kept_bytes / 2 || count > SLOTS / 2);
}

/* Finds a free entry. */
static struct output *
make_room(const struct owner *owner, size_t size)
{
	for (;;) {
		struct output *o = table;

		while (o < table + SLOTS && o->number != 0)
			o++;
		if (o < table + SLOTS && held + size <= options.kept_bytes)
			return o;
		drop(oldest(has_most(owner, size) ? owner : NULL));
	}
}

static struct output *
find(const struct owner *owner, const char *id, const char *name)
{
	for (struct output *o = table; o < table + SLOTS; o++)
		if (is_of(o, owner) && strcmp(o->id, id) == 0 && strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

int
output_on_keep_output(struct call *call, void *request, struct err *e)
{
	struct keep_output *ask = request;
	struct output *o = find(&call->owner, ask->output_id, ask->name);
	struct nothing done = { .ok = true };

	if (ask->text.size > options.kept_bytes)
		return err_set(e, ERR_limit_exceeded, "text: %zu bytes are over the limit of %llu",
		    ask->text.size, (unsigned long long)options.kept_bytes);
	if (o != NULL)
		drop(o); /* the id is derived from the content: the same text */
	o = make_room(&call->owner, ask->text.size);
	*o = (struct output){ .number = ++last,
		.id = take_ptr(ask->output_id),
		.name = take_ptr(ask->name),
		.owner = call->owner,
		.text = ask->text };
	ask->text = (struct blob){ 0 };
	held += o->text.size;
	call_reply(call, &done);
	return 0;
}

/* A piece from that byte on, in whole characters.  Both ends are moved forward, so that
 * consecutive pieces contain each character exactly once. */
static struct blob
piece(const struct blob *text, size_t from, size_t most)
{
	const char *bytes = text->data;
	size_t size = text->size, to;

	from = from < size ? from : size;
	to = most == 0 || size - from <= most ? size : from + most;
	while (utf8_inside(bytes, from, size))
		from++;
	while (utf8_inside(bytes, to, size))
		to++;
	return blob_copy(bytes + from, to - from);
}

static int
answer(struct call *call, const struct get_output *ask, const struct blob *text, struct err *e)
{
	struct output_piece reply = {
		.text = piece(text, (size_t)ask->offset, (size_t)ask->size),
		.total = text->size,
	};

	if (reply.text.data == NULL)
		return err_sys(e, "read an output");
	call_reply(call, &reply);
	message_clear(MSG_output_piece, &reply);
	return 0;
}

/* The code of a run is read as if it were one of its outputs. */
static int
answer_code(struct call *call, const struct get_output *ask, struct err *e)
{
	struct blob code = { 0 };
	int status = code_load(&call->owner, ask->output_id, &code, e);

	if (status == 0)
		status = answer(call, ask, &code, e);
	blob_clear(&code);
	return status;
}

int
output_on_get_output(struct call *call, void *request, struct err *e)
{
	const struct get_output *ask = request;
	const struct output *o = find(&call->owner, ask->output_id, ask->name);

	if (o != NULL)
		return answer(call, ask, &o->text, e);
	if (strcmp(ask->name, "code") == 0)
		return answer_code(call, ask, e);
	return err_set(e, ERR_not_found, "output_id: the text does not exist or was dropped");
}
