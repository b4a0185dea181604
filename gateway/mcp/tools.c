/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - builds tools/list from schema.def; knows no tool by name. */
#include "gateway/mcp/tools.h"

#include "gateway/compat/compat.h"
#include "gateway/compat/offer.h"
#include "gateway/mcp/advice.h"
#include "gateway/mcp/icon.h"
#include "gateway/options.h"
#include "gateway/rpc/write.h"

#include "common/base/auto.h"
#include "common/codec/jschema.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned toolsets;
} sets[] = {
	{ "core", CORE },
	{ "monitor", MONITOR },
	{ "mcp-secure-sandbox", SECURE_SANDBOX },
	{ "python-sandbox", PYTHON_SANDBOX },
	{ "sandboxmcp", SANDBOXMCP },
	{ "mcp-code-sandbox", CODE_SANDBOX },
	{ "all", ~0U },
};

static unsigned chosen = CORE;

static unsigned
set_parse(const char *name, size_t size)
{
	for (size_t i = 0; i < COUNT(sets); i++)
		if (strlen(sets[i].name) == size && memcmp(sets[i].name, name, size) == 0)
			return sets[i].toolsets;
	return 0;
}

static bool
is_offered(const char *name)
{
	return tools_find(name) != MSG_none;
}

int
tools_choose(const char *toolsets, struct err *e)
{
	unsigned all = 0;

	for (const char *at = toolsets;; at++) {
		size_t size = strcspn(at, ",");
		unsigned set = set_parse(at, size);

		if (set == 0)
			return err_set(e, ERR_invalid_argument,
			    "toolsets: '%.*s' is not one of core, monitor, all, "
			    "mcp-secure-sandbox, python-sandbox, sandboxmcp, mcp-code-sandbox",
			    (int)(size < 64 ? size : 64), at);
		all |= set;
		at += size;
		if (*at == '\0')
			break;
	}
	chosen = all;
	compat_choose(toolsets);
	advice_choose(is_offered);
	return 0;
}

static bool
offered(enum msg_id id)
{
	return messages[id].title != NULL && (messages[id].toolsets & chosen) != 0;
}

enum msg_id
tools_find(const char *name)
{
	const struct rows_offer *offer = compat_on() ? offer_find(compat_system(), name) : NULL;

	if (compat_on())
		return offer != NULL ? offer->ours : MSG_none;

	enum msg_id id = message_find(name);

	return id != MSG_none && offered(id) ? id : MSG_none;
}

enum msg_id
tools_with(unsigned hint)
{
	int id = MSG_none + 1;

	while (id < MSG_COUNT && (messages[id].hints & hint) == 0)
		id++;
	must(id < MSG_COUNT);
	return (enum msg_id)id;
}

static json_t *
annotations(const struct message *m, const struct revision *revision)
{
	return json_pack("{s:s*, s:b, s:b, s:b, s:b}", "title",
	    revision->structured ? NULL : m->title, "readOnlyHint", (m->hints & READ_ONLY) != 0,
	    "destructiveHint", (m->hints & DESTRUCTIVE) != 0, "idempotentHint",
	    (m->hints & IDEMPOTENT) != 0, "openWorldHint", (m->hints & OPEN_WORLD) != 0);
}

/* Arguments that a load balancer routes by without reading bodies; none of them is a secret. */
static const struct {
	const char *field, *header;
} mirrored[] = {
	{ "language", "Language" },
	{ "session_id", "Session-Id" },
};

/* Tells a client over HTTP, and no other, which arguments to repeat in Mcp-Param-... headers. */
static json_t *
input_schema(enum msg_id id, const struct revision *revision)
{
	json_t *schema = jschema_input(id);

	bool http = revision->modern && strcmp(options.transport, "stdio") != 0;

	for (size_t i = 0; http && i < COUNT(mirrored); i++) {
		json_t *property =
		    json_object_get(json_object_get(schema, "properties"), mirrored[i].field);

		if (property != NULL)
			json_object_set_new(
			    property, "x-mcp-header", json_string(mirrored[i].header));
	}
	return schema;
}

static json_t *
tool(enum msg_id id, const struct revision *revision)
{
	const struct message *m = &messages[id];
	json_t *one = json_pack("{s:s, s:s, s:o}", "name", m->name, "description", m->doc,
	    "inputSchema", input_schema(id, revision));

	icon_add(one, revision, icon_of_toolsets(m->toolsets & chosen));
	if (revision->annotations)
		json_object_set_new(one, "annotations", annotations(m, revision));
	if (revision->structured) {
		json_object_set_new(one, "title", json_string(m->title));
		json_object_set_new(one, "outputSchema", jschema_output(m->reply));
	}
	return one;
}

static json_t *
make_list(const struct revision *revision)
{
	if (compat_on())
		return offer_list(compat_system(), revision);

	json_t *list = json_array();

	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		if (!offered((enum msg_id)id) ||
		    json_array_append_new(list, write_constant(tool((enum msg_id)id, revision))) ==
			0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

json_t *
tools_list(const struct revision *revision)
{
	static struct {
		const struct revision *revision;
		json_t *list;
	} made[8]; /* more than the number of revisions */
	size_t i = 0;

	while (made[i].list != NULL && made[i].revision != revision)
		i++;
	must(i < COUNT(made) - 1);
	if (made[i].list == NULL) {
		made[i].revision = revision;
		made[i].list = make_list(revision);
	}
	return json_incref(made[i].list);
}

static void
describe_sets(FILE *to, unsigned toolsets)
{
	const char *comma = "";

	for (size_t i = 0; i < COUNT(sets); i++) {
		if (sets[i].toolsets == ~0U || (sets[i].toolsets & toolsets) == 0)
			continue;
		fprintf(to, "%s%s", comma, sets[i].name);
		comma = ", ";
	}
}

void
tools_describe(FILE *to)
{
	fputs("| tool | title | daemon | toolsets | what it does |\n|---|---|---|---|---|\n", to);
	for (int id = MSG_none + 1; id < MSG_COUNT; id++) {
		const struct message *m = &messages[id];

		if (m->title == NULL)
			continue;
		fprintf(to, "| `%s` | %s | %s | ", m->name, m->title, edge_peer_name(m->server));
		describe_sets(to, m->toolsets);
		fprintf(to, " | %s |\n", m->doc);
	}
}
