/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - a list of runs, the newest first; a run is shown only to its owner. */
#include "executor/session/ledger.h"

#include "common/base/auto.h"

#include <string.h>

struct page {
	struct page *next;
	struct owner owner;
	size_t bytes;
	char execution_id[64 + 1];
	struct artifact_list list;
};

static struct page *newest;

static void
free_page(struct page *page)
{
	message_clear(MSG_artifact_list, &page->list);
	free(page);
}

/* Drops runs over the bounds: those of the principal that just added one, and those of all. */
static void
trim(const char *principal)
{
	size_t runs = 0, of_one = 0, of_all = 0;
	struct page *page;

	for (struct page **at = &newest; (page = *at) != NULL;) {
		bool theirs = strcmp(page->owner.principal, principal) == 0;

		if (of_all + page->bytes > LEDGER_BYTES ||
		    (theirs && (runs == LEDGER_RUNS || of_one + page->bytes > LEDGER_BYTES_EACH))) {
			*at = page->next;
			free_page(page);
			continue;
		}
		of_all += page->bytes;
		of_one += theirs ? page->bytes : 0;
		runs += theirs;
		at = &page->next;
	}
}

/* An artifact has only texts and numbers. */
static void
copy_artifact(struct artifact *to, const struct artifact *from, size_t *bytes)
{
	const struct message *m = &messages[MSG_artifact];

	*to = *from;
	*bytes += sizeof *to;
	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++) {
		char **text = (char **)((char *)to + f->offset);

		if (f->kind != KIND_TEXT || *text == NULL)
			continue;
		*bytes += strlen(*text) + 1;
		*text = strdup(*text);
		must(*text != NULL);
	}
}

static void
copy_list(struct artifact_list *to, const struct artifact *from, size_t count, size_t *bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct artifact *a = list_add(&to->artifacts, sizeof *a);

		must(a != NULL);
		copy_artifact(a, &from[i], bytes);
	}
}

static struct page *
new_page(const struct owner *owner, const struct execution *run)
{
	struct page *page = calloc(1, sizeof *page);

	must(page != NULL);
	page->owner = *owner;
	page->list.session_id = run->session_id != NULL ? strdup(run->session_id) : NULL;
	must(run->session_id == NULL || page->list.session_id != NULL);
	strncpy(page->execution_id, run->execution_id, sizeof page->execution_id - 1);
	return page;
}

void
ledger_keep(const struct owner *owner, const struct execution *run)
{
	struct page *page;

	if (run->artifacts.count == 0)
		return;
	page = new_page(owner, run);
	copy_list(&page->list, run->artifacts.items, run->artifacts.count, &page->bytes);
	page->next = newest;
	newest = page;
	trim(owner->principal);
}

static const struct page *
find(const struct owner *owner, const char *execution_id)
{
	for (const struct page *page = newest; page != NULL; page = page->next)
		if (strcmp(page->execution_id, execution_id) == 0 &&
		    owner_equal(&page->owner, owner))
			return page;
	return NULL;
}

int
ledger_on_get_artifacts(struct call *call, void *request, struct err *e)
{
	const struct get_artifacts *ask = request;
	const struct page *page = find(&call->owner, ask->request_id);
	struct artifact_list reply = { 0 };
	size_t bytes = 0;

	if (page == NULL)
		return err_set(e, ERR_not_found,
		    "request_id: %.64s is not among your last %d runs that left files",
		    ask->request_id, LEDGER_RUNS);
	reply.session_id = page->list.session_id != NULL ? strdup(page->list.session_id) : NULL;
	copy_list(&reply, page->list.artifacts.items, page->list.artifacts.count, &bytes);
	call_reply(call, &reply);
	message_clear(MSG_artifact_list, &reply);
	return 0;
}
