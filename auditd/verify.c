/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - checks a log file; any user who may read the file can run it.
 *
 * Trusts nothing in the file, and nothing in a checkpoint except its signature by the given key.
 * An incomplete tail is not damage: it is being written, or a crash tore it before it was
 * acknowledged.
 */
#include "auditd/verify.h"

#include "auditd/key.h"
#include "auditd/record.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

struct question {
	const char *path, *since, *key;
	struct checkpoint checkpoint; /* of since */
	uint8_t seal[HASH_BYTES];     /* of the checkpoint's record */
};

/* ---- the checkpoint ---- */

/* The text itself, or the content of the file after @; allocated by malloc. */
static int
load_text(const char *given, struct blob *text, struct err *e)
{
	if (given[0] == '@')
		return fdio_load_given(given + 1, CHECKPOINT_TEXT - 1, text, e);
	*text = blob_text(given);
	return text->data == NULL ? err_sys(e, "%s", given) : 0;
}

/* A shell strips the last newline. */
static int
load_checkpoint(const char *given, char text[CHECKPOINT_TEXT], struct err *e)
{
	struct blob loaded = { 0 };

	if (load_text(given, &loaded, e) < 0)
		return -1;

	const char *from = loaded.data;
	size_t size = strlen(from);
	bool ended = size > 0 && from[size - 1] == '\n';

	/* A text that is too long is cut, and then is not a checkpoint. */
	snprintf(text, CHECKPOINT_TEXT, "%s%s", from, ended ? "" : "\n");
	blob_clear(&loaded);
	return 0;
}

static int
load_key(const struct question *q, uint8_t public[CHECKPOINT_PUBLIC], struct err *e)
{
	const char *slash = strrchr(q->path, '/');
	auto_free char *beside = NULL;
	struct blob text = { 0 };

	if (asprintf(&beside, "@%.*s" KEY_PUBLIC, slash == NULL ? 0 : (int)(slash - q->path + 1),
		q->path) < 0)
		return err_sys(e, "path");
	if (load_text(q->key != NULL ? q->key : beside, &text, e) < 0)
		return err_add(e, "key");

	int status = checkpoint_key_read(text.data, public, e);

	blob_clear(&text);
	return status;
}

/* The signature comes first: an unsigned text is no reason to look at the log. */
static enum verify_verdict
read_checkpoint(struct question *q, struct err *e)
{
	uint8_t public[CHECKPOINT_PUBLIC];
	char text[CHECKPOINT_TEXT];

	if (load_key(q, public, e) < 0 || load_checkpoint(q->since, text, e) < 0)
		return VERDICT_USAGE;
	if (checkpoint_verify(text, public, &q->checkpoint, e) == 0)
		return VERDICT_WHOLE;
	return e->code == ERR_not_found ? VERDICT_OTHER_KEY : VERDICT_BAD_SIGNATURE;
}

/* ---- the log ---- */

static int
check(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	struct question *q = self;
	struct audit_entry entry = { 0 };

	(void)offset;
	if (record_decode(link, &entry, e) < 0)
		return -1;
	message_clear(MSG_audit_entry, &entry);
	if (link->number == q->checkpoint.number)
		memcpy(q->seal, link->seal, HASH_BYTES);
	return 0;
}

static int
walk_log(struct question *q, struct chain_walk *walk, struct err *e)
{
	char head[HASH_HEX];
	auto_fd int fd = open(q->path, O_RDONLY | O_CLOEXEC);

	*walk = (struct chain_walk){ .fd = fd, .each = check, .self = q };
	if (fd < 0)
		return err_sys(e, "open");
	if (chain_walk(walk, e) < 0)
		return -1;
	sodium_bin2hex(head, sizeof(head), walk->end.seal, HASH_BYTES);
	printf("records %" PRIu64 "\nhead %s\n", walk->end.number, head);
	if (walk->tail > 0)
		printf("tail %" PRIu64 " bytes that are not whole: being written, or torn\n",
		    walk->tail);
	return 0;
}

static enum verify_verdict
compare(const struct question *q, uint64_t records, struct err *e)
{
	const struct checkpoint *c = &q->checkpoint;
	struct timespec at = { .tv_sec = (time_t)(c->time_ms / 1000) };
	char signed_at[TIMESTAMP_TEXT];

	timestamp_text(at, 0, signed_at);
	if (c->number > records) {
		err_set(e, ERR_denied,
		    "truncated: the checkpoint of %s says %" PRIu64 " records, %" PRIu64
		    " are missing",
		    signed_at, c->number, c->number - records);
		return VERDICT_TRUNCATED;
	}
	if (c->number > 0 && memcmp(c->seal, q->seal, HASH_BYTES) != 0) {
		err_set(e, ERR_denied,
		    "rewritten: record %" PRIu64 " has another hash than the checkpoint of %s says",
		    c->number, signed_at);
		return VERDICT_REWRITTEN;
	}
	printf("since %" PRIu64 " holds, signed %s\n", c->number, signed_at);
	return VERDICT_WHOLE;
}

static enum verify_verdict
verify(struct question *q, struct err *e)
{
	struct chain_walk walk;
	enum verify_verdict verdict = q->since == NULL ? VERDICT_WHOLE : read_checkpoint(q, e);

	if (verdict != VERDICT_WHOLE)
		return verdict;
	if (walk_log(q, &walk, e) < 0)
		return VERDICT_DAMAGED;
	return q->since == NULL ? VERDICT_WHOLE : compare(q, walk.end.number, e);
}

/* Returns false if the file is not as it should be. */
static bool
take_arguments(struct question *q, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--since=", 8) == 0)
			q->since = argv[i] + 8;
		else if (strncmp(argv[i], "--key=", 6) == 0)
			q->key = argv[i] + 6;
		else if (q->path == NULL && strncmp(argv[i], "--", 2) != 0)
			q->path = argv[i];
		else
			return false;
	return q->path != NULL;
}

int
verify_main(int argc, char **argv)
{
	struct question q = { 0 };
	struct err e;

	if (!take_arguments(&q, argc, argv)) {
		fputs("usage: cloister-auditd --verify FILE [--since=CHECKPOINT|@FILE] "
		      "[--key=KEY|@FILE]\n",
		    stderr);
		return VERDICT_USAGE;
	}

	enum verify_verdict verdict = verify(&q, &e);

	if (verdict != VERDICT_WHOLE)
		fprintf(stderr, "%s: %s\n", q.path, e.text);
	return (int)verdict;
}
