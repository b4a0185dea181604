/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - packs and unpacks events; trusts no size that it reads. */
#include "common/journal/batch.h"

#include "common/base/auto.h"
#include "common/codec/wire.h"

#include <endian.h>
#include <string.h>

void
batch_put(struct blob *batch, const void *event, size_t size)
{
	uint32_t head = htole32((uint32_t)size);
	uint8_t *at = (uint8_t *)batch->data + batch->size;

	must(size > 0 && size <= BATCH_BYTES_MAX);
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, event, size);
	batch->size += sizeof head + size;
}

int
batch_of(struct audit_event *event, struct blob *batch, struct err *e)
{
	struct packed packed = { 0 };

	if (wire_encode(MSG_audit_event, event, &packed, e) < 0)
		return -1;
	*batch = (struct blob){ .data = malloc(BATCH_SIZE_BYTES + packed.body.size) };
	if (batch->data != NULL)
		batch_put(batch, packed.body.data, packed.body.size);
	packed_clear(&packed);
	return batch->data != NULL ? 0 : err_sys(e, "audit batch");
}

bool
batch_next(const struct blob *batch, size_t *offset, struct blob *event)
{
	size_t left = batch->size - *offset;
	uint32_t head;

	if (left <= sizeof head)
		return false;
	memcpy(&head, (const uint8_t *)batch->data + *offset, sizeof head);

	size_t size = le32toh(head);

	if (size == 0 || size > left - sizeof head)
		return false;
	*event = (struct blob){ (uint8_t *)batch->data + *offset + sizeof head, size };
	*offset += sizeof head + size;
	return true;
}
