/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - the check that anybody can make who may read the file.
 *
 * Trusts nothing in it.  A tail that is not whole is no damage: it is being written at this moment,
 * or a crash tore it and nobody was told that it is durable.
 */
#include "auditd/verify.h"

#include "auditd/record.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

static int
check(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	struct audit_entry entry = { 0 };

	(void)self, (void)offset;
	if (record_decode(link, &entry, e) < 0)
		return -1;
	message_clear(MSG_audit_entry, &entry);
	return 0;
}

int
verify_file(const char *path)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct chain_walk walk = { .fd = fd, .each = check };
	char head[HASH_HEX];
	struct err e;
	int status = fd < 0 ? err_sys(&e, "open") : chain_walk(&walk, &e);

	if (status < 0) {
		fprintf(stderr, "%s: %s\n", path, e.text);
		return 1;
	}
	sodium_bin2hex(head, sizeof(head), walk.end.seal, HASH_BYTES);
	printf("records %" PRIu64 "\nhead %s\n", walk.end.number, head);
	if (walk.tail > 0)
		printf("tail %" PRIu64 " bytes that are not whole: being written, or torn\n",
		    walk.tail);
	return 0;
}
