/* SPDX-License-Identifier: Apache-2.0 */
/* box_end.c - frees the rest of the end of a run. */
#include "executor/sandbox/box.h"

#include "common/base/auto.h"

void
box_end_clear(struct box_end *end)
{
	message_clear(MSG_isolation, &end->isolation);
	blob_clear(&end->out);
	blob_clear(&end->err);
	blob_clear(&end->result);
	texts_clear(&end->variables);
	free(take_ptr(end->error_type));
	free(take_ptr(end->error_text));
	for (size_t i = 0; i < end->nrich; i++) {
		free(end->rich[i].mime_type);
		blob_clear(&end->rich[i].data);
	}
	end->nrich = 0;
}
