/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vault.c - the handlers.  The bus has checked the form of a request and from whom it came; the
 * owner is that of the envelope.
 */
#include "executor/vault/vault.h"

#include "executor/vault/backend.h"
#include "executor/vault/cell.h"
#include "executor/vault/store.h"

#include "common/base/auto.h"
#include "common/journal/spool.h"

#include <stdio.h>
#include <string.h>

enum { MAX_REVEALED = 64 }; /* of schema.def */

/* An absent text is NULL in a message. */
static char *
given(const char *text)
{
	return text != NULL && text[0] != '\0' ? (char *)(uintptr_t)text : NULL;
}

/* Records an event about secrets: their names, never a value. */
static int
record(const struct call *call, struct audit_event event, struct err *e)
{
	event.principal = given(call->owner.principal);
	event.space = given(call->owner.namespace);

	int status = spool_record(&event, e);

	free(event.uid); /* made by spool_record() */
	return status;
}

static int
record_change(const struct call *call, const struct name *name, const char *what, struct err *e)
{
	char detail[128];

	snprintf(detail, sizeof detail, "%s %s", name->name, what);
	return record(call,
	    (struct audit_event){ .event = event_vault_changed,
		.namespace = (char *)(uintptr_t)name->namespace,
		.detail = detail },
	    e);
}

/* ---- the gateway's, and an operator's ---- */

static int
reply_stored(struct call *call, const struct name *name, struct err *e)
{
	struct vault_entry reply = {
		.name = strdup(name->name),
		.namespace = strdup(name->namespace),
		.source = strdup(backend_store()),
	};
	bool whole = reply.name != NULL && reply.namespace != NULL && reply.source != NULL;

	if (whole)
		call_reply(call, &reply);
	message_clear(MSG_vault_entry, &reply);
	return whole ? 0 : err_sys(e, "reply");
}

static int
put(struct call *call, const struct vault_add *ask, struct err *e)
{
	struct name name;

	if (name_read(&name, &call->owner, ask->namespace, ask->name, e) < 0 ||
	    backend_can_store(e) < 0 || name_check_value(&name, ask->value.size, e) < 0)
		return -1;

	bool known = store_find(&name) != NULL;

	if (ask->exists && !known)
		return err_set(e, ERR_secret_not_found, "no stored secret %s in namespace %s",
		    name.name, name.namespace);
	/* The event first: a change is never without a record. */
	if (record_change(call, &name, known ? "is replaced" : "is added", e) < 0 ||
	    store_put(&name, &ask->value, e) < 0)
		return -1;
	return reply_stored(call, &name, e);
}

int
vault_on_vault_add(struct call *call, void *request, struct err *e)
{
	struct vault_add *ask = request;
	int status = put(call, ask, e);

	cell_wipe(&ask->value);
	return status;
}

int
vault_on_vault_list(struct call *call, void *request, struct err *e)
{
	const struct vault_list *ask = request;
	struct vault_names reply = { 0 };
	int status = 0;

	if (call->owner.principal[0] == '\0')
		return err_set(e, ERR_unauthenticated, "only an authenticated caller has secrets");
	if (ask->namespace != NULL)
		status = name_check_namespace(ask->namespace, e);
	if (status == 0)
		status = backend_list(&call->owner, ask->namespace, &reply, e);
	if (status == 0)
		call_reply(call, &reply);
	message_clear(MSG_vault_names, &reply);
	return status;
}

int
vault_on_vault_delete(struct call *call, void *request, struct err *e)
{
	const struct vault_delete *ask = request;
	struct nothing reply = { .ok = true };
	struct name name;

	if (name_read(&name, &call->owner, ask->namespace, ask->name, e) < 0)
		return -1;
	/* As in put(); of a secret that does not exist, store_delete() says so. */
	if (store_find(&name) != NULL && record_change(call, &name, "is deleted", e) < 0)
		return -1;
	if (store_delete(&name, e) < 0)
		return -1;
	call_reply(call, &reply);
	return 0;
}

int
vault_on_vault_rekey(struct call *call, void *request, struct err *e)
{
	struct nothing reply = { .ok = true };

	(void)request;
	if (!call->by_operator && !name_is_operator(call->owner.principal))
		return err_set(e, ERR_denied, "only principals of the setting operators may rekey");
	if (backend_can_store(e) < 0 ||
	    record(call,
		(struct audit_event){ .event = event_vault_changed,
		    .detail = (char *)(uintptr_t) "all secrets are sealed with a new key" },
		e) < 0 ||
	    store_rekey(e) < 0)
		return -1;
	call_reply(call, &reply);
	return 0;
}

/* ---- the executor's ---- */

static void
wipe_values(struct vault_values *values)
{
	for (size_t i = 0; i < values->values.count; i++)
		cell_wipe(&values->values.items[i].value);
	message_clear(MSG_vault_values, values);
}

static int
collect_one(const struct call *call, const char *namespace, const char *key,
    struct vault_values *to, struct err *e)
{
	struct name name;
	struct secret_value *value;

	if (name_read(&name, &call->owner, namespace, key, e) < 0)
		return err_add(e, "env_secrets");
	if ((value = list_add(&to->values, sizeof *value)) == NULL ||
	    (value->name = strdup(name.name)) == NULL)
		return err_sys(e, "values");
	return backend_reveal(&name, &value->value, e);
}

static bool
has_value(const struct vault_values *values, const char *name)
{
	for (size_t i = 0; i < values->values.count; i++)
		if (strcmp(values->values.items[i].name, name) == 0)
			return true;
	return false;
}

/* An empty value stands for one that could not be revealed, such as one that is too short. */
static int
collect_others(const struct call *call, const char *namespace, const struct vault_names *all,
    struct vault_values *to, struct err *e)
{
	for (size_t i = 0; i < all->secrets.count; i++) {
		const char *name = all->secrets.items[i].name;

		if (has_value(to, name))
			continue;
		if (to->values.count == MAX_REVEALED)
			return err_set(e, ERR_limit_exceeded, "the namespace has over %d secrets",
			    MAX_REVEALED);
		if (collect_one(call, namespace, name, to, e) == 0)
			continue;
		if (!has_value(to, name))
			return -1;
		cell_wipe(&to->values.items[to->values.count - 1].value);
	}
	return 0;
}

static int
collect(
    const struct call *call, const struct vault_reveal *ask, struct vault_values *to, struct err *e)
{
	struct vault_names all = { 0 };
	int status = 0;

	for (size_t i = 0; i < ask->names.count; i++)
		if (collect_one(call, ask->namespace, ask->names.items[i], to, e) < 0)
			return -1;
	if (!ask->all)
		return 0;
	status = backend_list(
	    &call->owner, ask->namespace != NULL ? ask->namespace : "default", &all, e);
	if (status == 0)
		status = collect_others(call, ask->namespace, &all, to, e);
	message_clear(MSG_vault_names, &all);
	return status;
}

/* The names, as many as fit. */
static void
join(char *to, size_t size, const struct vault_values *values)
{
	size_t at = 0;

	to[0] = '\0';
	for (size_t i = 0; i < values->values.count && at < size - 80; i++)
		at += (size_t)snprintf(
		    to + at, size - at, "%s%s", i == 0 ? "" : " ", values->values.items[i].name);
}

/* No value leaves without its event. */
static int
record_access(const struct call *call, const struct vault_reveal *ask,
    const struct vault_values *values, struct err *e)
{
	char detail[500];

	if (values->values.count == 0)
		return 0;
	join(detail, sizeof detail, values);
	return record(call,
	    (struct audit_event){ .event = event_vault_accessed,
		.namespace =
		    ask->namespace != NULL ? ask->namespace : (char *)(uintptr_t) "default",
		.execution_id = ask->execution_id,
		.session_id = ask->session_id,
		.size = values->values.count,
		.detail = detail },
	    e);
}

int
vault_on_vault_reveal(struct call *call, void *request, struct err *e)
{
	const struct vault_reveal *ask = request;
	struct vault_values values = { 0 };
	int status = collect(call, ask, &values, e);

	if (status == 0)
		status = record_access(call, ask, &values, e);
	if (status == 0)
		call_reply(call, &values);
	wipe_values(&values);
	return status;
}
