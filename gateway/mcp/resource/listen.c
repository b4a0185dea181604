/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - two lists: requests that listen, and the subscriptions of sessions of earlier
 * revisions.
 *
 * The number and size of what clients request is bounded.  Executors report what changed
 * (follow.h).
 */
#include "gateway/mcp/resource/listen.h"

#include "gateway/mcp/handlers.h"
#include "gateway/mcp/providers.h"
#include "gateway/mcp/resource/uri.h"
#include "gateway/task/task.h"
#include "gateway/transport/account.h"

#include "common/base/auto.h"

#include <stddef.h>
#include <string.h>

enum {
	MAX_LISTENS = 256,   /* of one principal */
	MAX_NAMES = 256,     /* URIs of one request or session, and ids of tasks */
	MAX_BYTES = 4 << 20, /* all such names of one principal, */
	BESIDE = 64,         /* each with this overhead */
};

struct listen {
	struct pending pending;
	struct listen *next;
	bool lists[PROVIDER_LISTS]; /* that it listens for */
	json_t *uris, *tasks;       /* arrays of texts */
	size_t bytes;               /* counted for the two arrays */
};

/* A subscription of a session; uri "": changes of lists. */
struct watch {
	struct watch *next; /* of all sessions */
	struct client *client;
	char uri[];
};

static struct listen *listens;
static struct watch *watches;
static void (*begun)(void);

void
listen_open(void (*when_begun)(void))
{
	begun = when_begun;
}

static void
tell_begun(void)
{
	if (begun != NULL)
		begun();
}

static bool
same(const struct account *a, const struct account *b)
{
	return a == b || owner_equal(&a->owner, &b->owner);
}

static bool
concerns(const char *wanted, const char *uri, bool below)
{
	size_t n = strlen(uri);

	return strcmp(wanted, uri) == 0 ||
	       (below && strncmp(wanted, uri, n) == 0 && wanted[n] == '/');
}

static bool
fits(const struct account *account, size_t bytes)
{
	return account->listening + bytes <= MAX_BYTES;
}

static json_t *
refuse_bytes(const struct request *r)
{
	return method_refuse(r,
	    "the names in all your subscriptions are over the limit of %d bytes; subscribe to less",
	    MAX_BYTES);
}

/* ---- telling ---- */

static void
tell_listen(const struct listen *l, const char *method, json_t *params)
{
	if (params != NULL)
		json_object_set_new(params, "_meta",
		    json_pack("{s:O}", REVISION_META "subscriptionId", l->pending.origin.id));
	client_tell(&l->pending.origin, jsonrpc_notification(method, params));
}

static void
tell_session(struct client *client, const char *method, const char *uri)
{
	const struct origin to = { .client = client, .revision = client->revision };

	client_tell(&to, uri == NULL
			     ? json_pack("{s:s, s:s}", "jsonrpc", "2.0", "method", method)
			     : jsonrpc_notification(method, json_pack("{s:s}", "uri", uri)));
}

/* Indexed by enum provider_list; a change of templates has no notification. */
static const struct {
	const char *wanted, *method;
} lists[] = {
	[PROVIDER_tools] = { "toolsListChanged", "notifications/tools/list_changed" },
	[PROVIDER_prompts] = { "promptsListChanged", "notifications/prompts/list_changed" },
	[PROVIDER_resources] = { "resourcesListChanged", "notifications/resources/list_changed" },
};

void
listen_changed(const struct account *who, enum provider_list list)
{
	must(list < COUNT(lists));
	for (struct listen *l = listens; l != NULL; l = l->next)
		if (l->lists[list] && (who == NULL || same(who, l->pending.origin.client->account)))
			tell_listen(l, lists[list].method, json_object());
	for (struct watch *w = watches; w != NULL; w = w->next)
		if (w->uri[0] == '\0' && (who == NULL || same(who, w->client->account)))
			tell_session(w->client, lists[list].method, NULL);
}

void
listen_updated(const struct account *who, const char *uri, bool below)
{
	static const char method[] = "notifications/resources/updated";
	json_t *wanted;
	size_t i;

	for (struct listen *l = listens; l != NULL; l = l->next) {
		if (!same(who, l->pending.origin.client->account))
			continue;
		json_array_foreach(
		    l->uris, i, wanted) if (concerns(json_string_value(wanted), uri, below))
		    tell_listen(l, method, json_pack("{s:O}", "uri", wanted));
	}
	for (struct watch *w = watches; w != NULL; w = w->next)
		if (same(who, w->client->account) && concerns(w->uri, uri, below))
			tell_session(w->client, method, w->uri);
}

void
listen_task(const struct account *who, const char *task_id, const json_t *task)
{
	json_t *wanted;
	size_t i;

	for (struct listen *l = listens; l != NULL; l = l->next) {
		if (!same(who, l->pending.origin.client->account))
			continue;
		json_array_foreach(
		    l->tasks, i, wanted) if (strcmp(json_string_value(wanted), task_id) == 0)
		    tell_listen(l, "notifications/tasks", json_copy((json_t *)(uintptr_t)task));
	}
}

bool
listen_hears_task(const struct account *who, const char *task_id)
{
	json_t *wanted;
	size_t i;

	for (struct listen *l = listens; l != NULL; l = l->next) {
		if (!same(who, l->pending.origin.client->account))
			continue;
		json_array_foreach(l->tasks, i, wanted)
		{
			if (strcmp(json_string_value(wanted), task_id) == 0)
				return true;
		}
	}
	return false;
}

void
listen_missed(void)
{
	json_t *wanted;
	size_t i;

	listen_changed(NULL, PROVIDER_resources);
	for (struct listen *l = listens; l != NULL; l = l->next) {
		const struct account *who = l->pending.origin.client->account;

		json_array_foreach(l->uris, i, wanted) tell_listen(
		    l, "notifications/resources/updated", json_pack("{s:O}", "uri", wanted));
		json_array_foreach(l->tasks, i, wanted)
		    task_look(who, json_string_value(wanted), listen_task);
	}
	for (struct watch *w = watches; w != NULL; w = w->next)
		if (w->uri[0] != '\0')
			tell_session(w->client, "notifications/resources/updated", w->uri);
}

bool
listen_is_idle(void)
{
	return listens == NULL && watches == NULL;
}

/* ---- subscriptions/listen ---- */

static void
end(struct pending *p)
{
	struct listen *l = (struct listen *)((char *)p - offsetof(struct listen, pending));
	struct listen **at = &listens;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	p->origin.client->account->listening -= l->bytes;
	client_end(p,
	    jsonrpc_result(p->origin.id,
		method_end(p->origin.revision,
		    json_pack("{s:{s:O}}", "_meta", REVISION_META "subscriptionId", p->origin.id),
		    NULL)));
	json_decref(l->uris);
	json_decref(l->tasks);
	free(l);
}

/* A new array of the texts in filter[name]; NULL, with a refusal. */
static json_t *
read_names(const struct request *r, const char *name, json_t **answer)
{
	json_t *given = json_object_get(json_object_get(r->params, "notifications"), name);
	json_t *text;
	size_t i;

	if (given == NULL)
		return json_array();
	if (!json_is_array(given) || json_array_size(given) > MAX_NAMES) {
		*answer = method_refuse(
		    r, "notifications.%s must be an array of at most %d texts", name, MAX_NAMES);
		return NULL;
	}
	json_array_foreach(given, i, text)
	{
		if (json_is_string(text) && json_string_length(text) <= URI_MAX)
			continue;
		*answer = method_refuse(r,
		    "notifications.%s[%zu] must be a string of at most %d bytes", name, i, URI_MAX);
		return NULL;
	}
	return json_copy(given);
}

/* Sets those of the requested lists that can change at all. */
static void
read_lists(const struct request *r, bool wanted[PROVIDER_LISTS])
{
	json_t *filter = json_object_get(r->params, "notifications");

	for (size_t i = 0; i < COUNT(lists); i++)
		wanted[i] = json_is_true(json_object_get(filter, lists[i].wanted)) &&
		            providers_change((enum provider_list)i);
}

static void
acknowledge(const struct listen *l)
{
	json_t *agreed = json_object();

	for (size_t i = 0; i < COUNT(lists); i++)
		if (l->lists[i])
			json_object_set_new(agreed, lists[i].wanted, json_true());
	if (json_array_size(l->uris) > 0)
		json_object_set(agreed, "resourceSubscriptions", l->uris);
	if (json_array_size(l->tasks) > 0)
		json_object_set(agreed, "taskIds", l->tasks);
	tell_listen(l, "notifications/subscriptions/acknowledged",
	    json_pack("{s:o}", "notifications", agreed));
}

static bool
too_many(const struct account *account)
{
	size_t count = 0;

	for (const struct listen *l = listens; l != NULL; l = l->next)
		count += same(account, l->pending.origin.client->account);
	return count >= MAX_LISTENS;
}

/* NULL, or a refusal. */
static json_t *
refuse_listen(const struct request *r)
{
	json_t *filter = json_object_get(r->params, "notifications");

	if (!json_is_object(filter))
		return method_refuse(r, "notifications must be an object");
	if (too_many(r->origin.client->account))
		return method_refuse(r, "%d listen requests are open, the limit", MAX_LISTENS);
	if (json_object_get(filter, "taskIds") != NULL &&
	    !method_declared(r, "extensions", REVISION_META "tasks"))
		return method_lacks(r, task_capability());
	return NULL;
}

static size_t
bytes_of(const json_t *names)
{
	size_t bytes = 0, i;
	json_t *name;

	json_array_foreach((json_t *)(uintptr_t)names, i, name) bytes +=
	    json_string_length(name) + BESIDE;
	return bytes;
}

/* NULL, with the answer; takes the lists. */
static struct listen *
make(const struct request *r, json_t *uris, json_t *tasks, json_t **answer)
{
	size_t bytes = bytes_of(uris) + bytes_of(tasks);
	struct listen *l = NULL;

	if (*answer == NULL && !fits(r->origin.client->account, bytes))
		*answer = refuse_bytes(r);
	else if (*answer == NULL && (l = calloc(1, sizeof *l)) == NULL)
		*answer = jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	if (l == NULL) {
		json_decref(uris);
		json_decref(tasks);
		return NULL;
	}
	*l = (struct listen){ .next = listens, .uris = uris, .tasks = tasks, .bytes = bytes };
	read_lists(r, l->lists);
	return l;
}

/* tasks: ids of the caller's own tasks, taken. */
static json_t *
begin(const struct request *r, json_t *tasks)
{
	json_t *answer = NULL, *uris = read_names(r, "resourceSubscriptions", &answer);
	struct listen *l = make(r, uris, tasks, &answer);

	if (l == NULL)
		return answer;
	listens = l;
	r->origin.client->account->listening += l->bytes;
	client_begin(&l->pending, &r->origin, end);
	l->pending.endless = true;
	tell_begun();
	acknowledge(l);
	return NULL;
}

json_t *
handle_listen(const struct request *r)
{
	json_t *answer = refuse_listen(r);
	json_t *tasks = answer == NULL ? read_names(r, "taskIds", &answer) : NULL;

	return tasks == NULL ? answer : task_filter(r, tasks, providers_have_task, begin);
}

/* ---- earlier revisions ---- */

static int
add_watch(struct client *client, const char *uri)
{
	struct watch *w = malloc(sizeof *w + strlen(uri) + 1);

	if (w == NULL)
		return -1;
	client->account->listening += strlen(uri) + BESIDE;
	w->client = client;
	memcpy(w->uri, uri, strlen(uri) + 1);
	w->next = watches;
	watches = w;
	client->watches++;
	tell_begun();
	return 0;
}

/* uri NULL: all of them. */
static bool
drop_watches(struct client *client, const char *uri)
{
	bool found = false;

	for (struct watch **at = &watches; client->watches > 0 && *at != NULL;) {
		struct watch *w = *at;

		if (w->client != client || (uri != NULL && strcmp(w->uri, uri) != 0)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		client->watches--;
		client->account->listening -= strlen(w->uri) + BESIDE;
		free(w);
		found = true;
	}
	return found;
}

static void
on_closed(struct client *client)
{
	drop_watches(client, NULL);
}

void
listen_welcome(struct client *client)
{
	client->closed = on_closed;
	add_watch(client, "");
}

json_t *
handle_subscribe(const struct request *r)
{
	struct client *client = r->origin.client;
	json_t *answer = NULL;
	const char *uri = method_text(r, "uri", &answer);

	if (uri == NULL)
		return answer;
	if (uri[0] == '\0' || strlen(uri) > URI_MAX)
		return method_refuse(r, "uri: %zu bytes; must be 1 to %d", strlen(uri), URI_MAX);
	drop_watches(client, uri);
	if (client->watches > MAX_NAMES)
		return method_refuse(r, "%d resources are subscribed to, the limit", MAX_NAMES);
	if (!fits(client->account, strlen(uri) + BESIDE))
		return refuse_bytes(r);
	if (add_watch(client, uri) < 0)
		return jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory");
	return method_complete(r, json_object());
}

json_t *
handle_unsubscribe(const struct request *r)
{
	json_t *answer = NULL;
	const char *uri = method_text(r, "uri", &answer);

	if (uri == NULL)
		return answer;
	if (uri[0] != '\0')
		drop_watches(r->origin.client, uri);
	return method_complete(r, json_object());
}
