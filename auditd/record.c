/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - an event and its reporter, to bytes and back.
 *
 * Trusts nothing in the bytes: they come from a disk, and are decoded as strictly as from a peer.
 */
#include "auditd/record.h"

#include "common/codec/wire.h"

#include <sodium.h>
#include <string.h>

uint8_t *
record_encode(const char *daemon, struct audit_event *event, size_t *size, struct err *e)
{
	struct packed packed = { 0 };
	size_t name = strlen(daemon);

	must(name <= UINT8_MAX);
	if (wire_encode(MSG_audit_event, event, &packed, e) < 0)
		return NULL;

	uint8_t *record = malloc(1 + name + packed.body.size);

	if (record != NULL) {
		record[0] = (uint8_t)name;
		memcpy(record + 1, daemon, name + 1); /* its zero byte is written over */
		memcpy(record + 1 + name, packed.body.data, packed.body.size);
		*size = 1 + name + packed.body.size;
	} else {
		err_sys(e, "audit record");
	}
	packed_clear(&packed);
	return record;
}

static char *
hex_of(const uint8_t digest[HASH_BYTES])
{
	char *hex = malloc(HASH_HEX);

	if (hex != NULL)
		sodium_bin2hex(hex, HASH_HEX, digest, HASH_BYTES);
	return hex;
}

static int
decode(const struct chain_link *link, struct audit_entry *entry, struct err *e)
{
	size_t name = link->size == 0 ? 0 : link->record[0];

	if (link->size < 1 + name)
		return err_set(e, ERR_internal, "too short");
	entry->sequence = link->number;
	entry->daemon = strndup((const char *)link->record + 1, name);
	entry->previous = hex_of(link->previous);
	entry->hash = hex_of(link->seal);
	entry->event = calloc(1, sizeof(*entry->event));
	if (entry->daemon == NULL || entry->previous == NULL || entry->hash == NULL ||
	    entry->event == NULL)
		return err_sys(e, "audit entry");

	struct packed packed = {
		.body = { (void *)(link->record + 1 + name), link->size - 1 - name },
	};

	return wire_decode(MSG_audit_event, &packed, entry->event, e);
}

int
record_decode(const struct chain_link *link, struct audit_entry *entry, struct err *e)
{
	if (decode(link, entry, e) == 0)
		return 0;
	message_clear(MSG_audit_entry, entry);
	return err_add(e, "record %llu", (unsigned long long)link->number);
}
