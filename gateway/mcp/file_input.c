/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_input.c - reads the file, then repeats the call with its bytes.
 *
 * The executor decides what the path names and whose it is, and masks secrets in it.  The bytes are
 * a hostile program's, as those in arguments are.  A file that is too large for a message stays
 * where it is: the executor checks it.
 */
#include "gateway/mcp/file_input.h"

#include "gateway/mcp/arguments.h"
#include "gateway/mcp/result.h"
#include "gateway/rpc/jsonrpc.h"

#include "common/base/auto.h"
#include "common/codec/base64.h"

#include <string.h>

/* The field that takes bytes: the first BLOB. */
static const struct field *
bytes_field(enum msg_id tool)
{
	const struct message *m = &messages[tool];

	for (const struct field *f = m->fields; f < m->fields + m->nfields; f++)
		if (f->kind == KIND_BLOB)
			return f;
	return NULL;
}

static json_t *
say(const struct request *r, const struct err *e)
{
	json_t *result = result_of_error(r->origin.revision, e);

	return result == NULL ? jsonrpc_error(r->origin.id, RPC_INTERNAL, "out of memory")
	                      : jsonrpc_result(r->origin.id, result);
}

bool
file_input_is(enum msg_id tool, const json_t *arguments)
{
	return (messages[tool].hints & TAKES_FILE) != 0 &&
	       json_is_string(json_object_get(arguments, "path"));
}

json_t *
file_input_ask(
    const struct request *r, enum msg_id tool, const json_t *arguments, inquire_answer *answer)
{
	const char *session = json_string_value(json_object_get(arguments, "session_id"));
	char instance[64];
	bool routed = arguments_instance("sess_", session, instance, sizeof instance);
	struct sandbox_read_artifact request = {
		.path = (char *)(uintptr_t)json_string_value(json_object_get(arguments, "path")),
		.session_id = (char *)(uintptr_t)session,
		.length = (uint64_t)bytes_field(tool)->high,
	};

	return inquire(r,
	    (struct ask){ .to = PEER_executor,
		.instance = routed ? instance : NULL,
		.home = !routed,
		.message = MSG_sandbox_read_artifact,
		.request = &request },
	    answer);
}

/* The same call with the bytes. */
static json_t *
params_with(const struct request *r, enum msg_id tool, const struct blob *bytes)
{
	auto_free char *text = malloc(base64_room(bytes->size));
	json_t *params = json_copy(r->params);
	json_t *arguments = json_copy(json_object_get(params, "arguments"));

	must(text != NULL && arguments != NULL);
	base64_write(text, bytes->data, bytes->size);
	json_object_del(arguments, "path");
	json_object_del(arguments, "session_id");
	json_object_set_new(arguments, bytes_field(tool)->name, json_string(text));
	json_object_set_new(params, "arguments", arguments);
	return params;
}

bool
file_input_is_over(const void *reply, const struct err *e)
{
	const struct artifact_content *content = reply;

	return content != NULL ? content->total_size > content->content_base64.size
	                       : e->code == ERR_file_too_large;
}

json_t *
file_input_params(
    const struct request *r, enum msg_id tool, void *reply, const struct err *e, json_t **answer)
{
	const struct artifact_content *content = reply;

	if (content != NULL)
		return params_with(r, tool, &content->content_base64);
	*answer = say(r, e);
	return NULL;
}
