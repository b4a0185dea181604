/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - records events of auditd itself. */
#include "auditd/own.h"

#include "auditd/journal.h"
#include "auditd/record.h"
#include "auditd/seen.h"

#include "common/base/hash.h"
#include "common/codec/wire.h"

static int
add(const struct blob *packed, const char *uid, struct err *e)
{
	uint8_t record[CHAIN_RECORD_MAX];
	size_t size = record_pack("auditd", packed, record, e);

	if (size == 0 || journal_add(record, size, e) == 0)
		return -1;
	seen_add("auditd", uid);
	return 0;
}

int
own_add(enum event what, const char *detail, uint64_t time_ms, struct err *e)
{
	char uid[37];
	struct packed packed = { 0 };

	hash_uuid(uid);

	struct audit_event event = {
		.uid = uid,
		.time_ms = time_ms,
		.event = (int)what,
		.detail = (char *)(uintptr_t)detail,
	};

	if (wire_encode(MSG_audit_event, &event, &packed, e) < 0)
		return -1;

	int status = add(&packed.body, uid, e);

	packed_clear(&packed);
	return status;
}
