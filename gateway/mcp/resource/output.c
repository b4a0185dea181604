/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - reads texts that an executor keeps. */
#include "gateway/mcp/resource/output.h"

#include "gateway/mcp/inquire.h"
#include "gateway/mcp/resource/view.h"
#include "gateway/mcp/result.h"

#include "common/base/auto.h"
#include "common/bus/bus.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 40000, /* bytes of a piece that is requested by its offset */
};

static json_t *
answer(const struct request *r, void *reply, const struct err *e)
{
	const struct output_piece *piece = reply;

	if (piece != NULL)
		return view_text(
		    r, "text/plain", json_stringn_nocheck(piece->text.data, piece->text.size));
	return e->code == ERR_not_found || e->code == ERR_invalid_argument
	           ? view_absent(r)
	           : result_rpc_error(r->origin.id, e);
}

json_t *
output_read(const struct request *r, const json_t *variables)
{
	const char *offset = json_string_value(json_object_get(variables, "offset"));
	const char *id = json_string_value(json_object_get(variables, "output_id"));
	const char *name = json_string_value(json_object_get(variables, "name"));
	struct get_output request = { .output_id = (char *)(uintptr_t)id,
		.name = (char *)(uintptr_t)name };

	if (offset != NULL && (strlen(offset) > 18 || offset[strspn(offset, "0123456789")] != '\0'))
		return method_refuse(r, "uri: '%.20s' is not an offset in bytes", offset);
	if (offset != NULL) {
		request.offset = strtoull(offset, NULL, 10);
		request.size = PIECE;
	}
	return inquire(r,
	    (struct ask){
		.to = PEER_executor, .home = true, .message = MSG_get_output, .request = &request },
	    answer);
}
