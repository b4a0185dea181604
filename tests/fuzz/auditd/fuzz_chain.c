/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_chain.c - what may stand in a journal or spool on a disk that somebody else wrote to.
 *
 * Input: a piece of such a file, which is hardly ever sealed rightly; and the record of a link that
 * is.  That link is found again as it was, and its record is an audit entry or refused.
 */
#include "auditd/record.h"
#include "common/base/err.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_piece(const uint8_t *data, size_t size)
{
	struct chain_link link;
	ssize_t n = chain_parse(data, size, &link);

	must(n <= (ssize_t)size);
	if (n > 0)
		must(link.record >= data && link.size <= (size_t)n &&
		     link.record + link.size <= data + n);
}

static void
check_record(const struct chain_link *link)
{
	struct audit_entry entry = { 0 };
	struct err e = { 0 };

	if (record_decode(link, &entry, &e) == 0)
		must(entry.event != NULL && entry.event->uid != NULL && entry.daemon != NULL);
	else
		must(e.code != ERR_none && e.text[0] != 0 && entry.event == NULL);
	message_clear(MSG_audit_entry, &entry);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chain_buffer buffer = { 0 };
	struct chain_end end = { 0 };
	struct chain_link link;
	struct err e;

	check_piece(data, size);
	if (size == 0 || chain_add(&buffer, &end, 0, data, size, &e) < 0)
		return 0;
	must(chain_parse(buffer.data, buffer.size, &link) == (ssize_t)buffer.size);
	must(link.number == 1 && link.size == size && memcmp(link.record, data, size) == 0);
	must(chain_parse(buffer.data, buffer.size - 1, &link) == 0);
	must(chain_parse(buffer.data, buffer.size, &link) > 0);
	check_record(&link);
	buffer.data[buffer.size / 2] ^= 1;
	must(chain_parse(buffer.data, buffer.size, &link) <= 0);
	chain_buffer_clear(&buffer);
	return 0;
}
