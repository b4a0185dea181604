/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - checks a log; any user who may read its files can run it.
 *
 * Trusts nothing in the file, and nothing in a checkpoint except its signature by the given key.
 * An incomplete tail is not damage: it is being written, or a crash tore it before it was
 * acknowledged.
 */
#include "auditd/verify.h"

#include "auditd/key.h"
#include "auditd/logfile.h"
#include "auditd/record.h"
#include "auditd/segments.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/timestamp.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct question {
	const char *path, *since, *key;
	char *directory;              /* of the log */
	const char *file;             /* one segment of it; NULL: all */
	struct checkpoint checkpoint; /* of since */
	uint8_t seal[HASH_BYTES];     /* of the checkpoint's record */
	uint8_t public[CHECKPOINT_PUBLIC];
	bool has_key;
	struct chain_end end;               /* of the segment before */
	uint64_t absent_first, absent_last; /* a range that has the checkpoint's record; 0: none */
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
load_key(struct question *q, struct err *e)
{
	auto_free char *beside = NULL;
	struct blob text = { 0 };

	if (asprintf(&beside, "@%s/" KEY_PUBLIC, q->directory) < 0)
		return err_sys(e, "path");
	if (load_text(q->key != NULL ? q->key : beside, &text, e) < 0)
		return err_add(e, "key");

	int status = checkpoint_key_read(text.data, q->public, e);

	blob_clear(&text);
	q->has_key = status == 0;
	return status;
}

/* The signature comes first: an unsigned text is no reason to look at the log. */
static enum verify_verdict
read_checkpoint(struct question *q, struct err *e)
{
	char text[CHECKPOINT_TEXT];

	if (load_key(q, e) < 0 || load_checkpoint(q->since, text, e) < 0)
		return VERDICT_USAGE;
	if (checkpoint_verify(text, q->public, &q->checkpoint, e) == 0)
		return VERDICT_WHOLE;
	return e->code == ERR_not_found ? VERDICT_OTHER_KEY : VERDICT_BAD_SIGNATURE;
}

/* ---- the log ---- */

static void
time_text(uint64_t ms, char text[TIMESTAMP_TEXT])
{
	timestamp_text((struct timespec){ .tv_sec = (time_t)(ms / 1000) }, 0, text);
}

/* Records between the segment before and this link are not there. */
static void
note_absent(struct question *q, const struct chain_link *link, const char *signed_by)
{
	uint64_t first = q->end.number + 1, last = link->number - 1;
	char seal[HASH_HEX];

	sodium_bin2hex(seal, sizeof(seal), link->previous, HASH_BYTES);
	printf("absent %" PRIu64 " to %" PRIu64 ", which end with %s%s\n", first, last, seal,
	    signed_by);
	if (q->checkpoint.number >= first && q->checkpoint.number < last) {
		q->absent_first = first;
		q->absent_last = last;
	}
}

/* *says: who signed the end of the records before the link. */
static int
check_statement(
    const struct question *q, const struct chain_link *link, char says[64], struct err *e)
{
	char at[TIMESTAMP_TEXT];
	struct checkpoint c;

	snprintf(says, 64, ", not verified without a key");
	if (!q->has_key)
		return 0;
	if (segments_stated(link, q->public, &c, e) == 0) {
		time_text(c.time_ms, at);
		snprintf(says, 64, ", signed %s", at);
		return 0;
	}
	snprintf(says, 64, ", signed by another key");
	return e->code == ERR_not_found ? 0 : -1;
}

/* The first link of a segment. */
static int
check_head(struct question *q, const struct chain_link *link, struct err *e)
{
	bool follows = chain_follows(&q->end, link);
	char says[64];

	if (!follows && link->number <= q->end.number + 1)
		return err_set(e, ERR_internal,
		    "record %" PRIu64 " does not follow the segment before it", link->number);
	if (link->number == 1)
		return 0;
	if (check_statement(q, link, says, e) < 0)
		return -1;
	if (!follows)
		note_absent(q, link, says);
	if (q->checkpoint.number == link->number - 1)
		memcpy(q->seal, link->previous, HASH_BYTES);
	return 0;
}

static int
check(void *self, const struct chain_link *link, uint64_t offset, struct err *e)
{
	struct question *q = self;
	struct audit_entry entry = { 0 };

	if (record_decode(link, &entry, e) < 0)
		return -1;
	message_clear(MSG_audit_entry, &entry);
	if (offset == 0 && check_head(q, link, e) < 0)
		return -1;
	if (link->number == q->checkpoint.number)
		memcpy(q->seal, link->seal, HASH_BYTES);
	return 0;
}

static int
walk_file(struct question *q, int directory, const char *name, bool is_last, struct err *e)
{
	auto_fd int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	struct chain_walk walk = {
		.fd = fd, .from_middle = true, .before = q->end, .each = check, .self = q
	};

	if (fd < 0)
		return err_sys(e, "open %s", name);
	if (chain_walk(&walk, e) < 0)
		return err_add(e, "%s", name);
	if (walk.tail > 0 && !is_last)
		return err_set(e, ERR_internal,
		    "%s: byte %" PRIu64 " is no record, and the segment is closed", name,
		    walk.offset);
	if (walk.tail > 0)
		printf("tail %" PRIu64 " bytes that are not whole: being written, or torn\n",
		    walk.tail);
	q->end = walk.end;
	return 0;
}

static int
walk_all(struct question *q, int directory, struct err *e)
{
	auto_free uint64_t *firsts = NULL;
	char name[LOGFILE_NAME];
	size_t count;

	if (logfile_list(directory, &firsts, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		logfile_name(firsts[i], name);
		if (walk_file(q, directory, name, false, e) < 0)
			return -1;
	}
	return walk_file(q, directory, LOGFILE_OPEN, true, e);
}

static int
walk_log(struct question *q, struct err *e)
{
	auto_fd int directory = open(q->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char head[HASH_HEX];

	if (directory < 0)
		return err_sys(e, "open %s", q->directory);
	if ((q->file != NULL ? walk_file(q, directory, q->file, true, e)
			     : walk_all(q, directory, e)) < 0)
		return -1;
	sodium_bin2hex(head, sizeof(head), q->end.seal, HASH_BYTES);
	printf("records %" PRIu64 "\nhead %s\n", q->end.number, head);
	return 0;
}

static enum verify_verdict
compare(const struct question *q, uint64_t records, struct err *e)
{
	const struct checkpoint *c = &q->checkpoint;
	char signed_at[TIMESTAMP_TEXT];

	time_text(c->time_ms, signed_at);
	if (c->number > records) {
		err_set(e, ERR_denied,
		    "truncated: the checkpoint of %s says %" PRIu64 " records, %" PRIu64
		    " are missing",
		    signed_at, c->number, c->number - records);
		return VERDICT_TRUNCATED;
	}
	if (q->absent_last > 0) {
		err_set(e, ERR_not_found,
		    "removed: record %" PRIu64 " of the checkpoint is one of %" PRIu64
		    " to %" PRIu64 ", which are absent",
		    c->number, q->absent_first, q->absent_last);
		return VERDICT_REMOVED;
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
	struct err ignored;
	enum verify_verdict verdict = q->since == NULL ? VERDICT_WHOLE : read_checkpoint(q, e);

	if (verdict != VERDICT_WHOLE)
		return verdict;
	if (q->since == NULL && load_key(q, &ignored) < 0 && q->key != NULL) {
		*e = ignored;
		return VERDICT_USAGE;
	}
	if (walk_log(q, e) < 0)
		return VERDICT_DAMAGED;
	return q->since == NULL ? VERDICT_WHOLE : compare(q, q->end.number, e);
}

/* The directory, and which file in it. */
static void
find_files(struct question *q)
{
	const char *slash = strrchr(q->path, '/');
	struct stat st;

	if (stat(q->path, &st) == 0 && S_ISDIR(st.st_mode)) {
		q->directory = strdup(q->path);
		return;
	}
	q->file = slash == NULL ? q->path : slash + 1;
	q->directory =
	    slash == NULL ? strdup(".") : strndup(q->path, (size_t)(slash - q->path) + 1);
	if (strcmp(q->file, LOGFILE_OPEN) == 0)
		q->file = NULL;
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
		fputs("usage: cloister-auditd --verify LOG [--since=CHECKPOINT|@FILE] "
		      "[--key=KEY|@FILE]\n",
		    stderr);
		return VERDICT_USAGE;
	}

	find_files(&q);
	must(q.directory != NULL);

	enum verify_verdict verdict = verify(&q, &e);

	free(q.directory);

	if (verdict != VERDICT_WHOLE)
		fprintf(stderr, "%s: %s\n", q.path, e.text);
	return (int)verdict;
}
