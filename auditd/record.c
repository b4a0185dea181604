/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - encodes and decodes an event and its reporter.
 *
 * Does not trust the bytes: they come from a disk, and are decoded as strictly as a peer's.
 */
#include "auditd/record.h"

#include "common/codec/wire.h"

#include <sodium.h>
#include <string.h>

size_t
record_pack(
    const char *daemon, const struct blob *event, uint8_t record[CHAIN_RECORD_MAX], struct err *e)
{
	size_t name = strlen(daemon);

	must(name <= UINT8_MAX);
	if (event->size > CHAIN_RECORD_MAX - 1 - name) {
		err_set(e, ERR_limit_exceeded, "an event of %zu bytes is too large", event->size);
		return 0;
	}
	record[0] = (uint8_t)name; /* not zero-terminated */
	memcpy(mempcpy(record + 1, daemon, name), event->data, event->size);
	return 1 + name + event->size;
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
