/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.c - compares the log with checkpoints that other daemons keep.
 *
 * Does not trust their texts.  A text that is no checkpoint is skipped, because a lying daemon
 * could as well keep none.  A checkpoint of another key could mean that the key was replaced
 * together with the log.  It is therefore refused like one of our own key, unless the log holds its
 * record.
 */
#include "auditd/witness.h"

#include "auditd/journal.h"
#include "auditd/key.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/journal/spool.h"
#include "common/table/edges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WITNESSES = 64 };

static struct {
	struct kept {
		char text[CHECKPOINT_TEXT], directory[NAME_MAX + 1];
		uint64_t number;
	} kept[WITNESSES];
	size_t count;
	uint64_t accepted_ms; /* earlier checkpoints are not compared */
} witness;

/* ---- checkpoints below the state directory ---- */

/* "executor" or "executor-2": a daemon that sends events here. */
static bool
reports(const char *directory)
{
	for (const struct edge *edge = edges; edge < edges + edges_count; edge++) {
		const char *name = edge_peer_name(edge->client);
		size_t size = strlen(name);

		if (edge->server == PEER_auditd && strncmp(directory, name, size) == 0 &&
		    (directory[size] == '\0' || directory[size] == '-'))
			return true;
	}
	return false;
}

/* An unreadable checkpoint belongs to another uid, if root did not start auditd. */
static void
load(int root, const char *directory)
{
	auto_fd int fd = openat(root, directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct kept *to = &witness.kept[witness.count];
	struct blob text = { 0 };
	struct err e;

	if (fd < 0 || fdio_load(fd, SPOOL_CHECKPOINT, sizeof to->text - 1, &text, &e) < 0) {
		if (fd >= 0 && e.sys != ENOENT && e.sys != EACCES)
			log_warn("a kept checkpoint cannot be read", LOG_S("directory", directory),
			    LOG_E(&e));
		return;
	}
	memcpy(to->text, text.data, text.size + 1);
	snprintf(to->directory, sizeof to->directory, "%s", directory);
	witness.count += text.size > 0;
	blob_clear(&text);
}

int
witness_open(const char *state_root, struct err *e)
{
	const struct dirent *entry;

	memset(&witness, 0, sizeof witness);

	DIR *root = opendir(state_root);

	if (root == NULL)
		return err_sys(e, "read %s", state_root);
	while (witness.count < WITNESSES && (entry = readdir(root)) != NULL)
		if (reports(entry->d_name))
			load(dirfd(root), entry->d_name);
	closedir(root);
	return 0;
}

void
witness_accepted(uint64_t time_ms)
{
	if (time_ms > witness.accepted_ms)
		witness.accepted_ms = time_ms;
}

uint64_t
witness_accepted_ms(void)
{
	return witness.accepted_ms;
}

/* ---- comparing ---- */

/*
 * 1: the log holds it, or held it before it was removed; 0: it does not; -1: the log could not be
 * read.  Of removed records only the end is known, which the next segment states.
 */
static int
holds(const struct checkpoint *c, struct err *e)
{
	uint8_t seal[HASH_BYTES];
	uint64_t first, last;

	if (c->number > journal_durable())
		return 0;
	if (c->number == 0 || (journal_removed(c->number, &first, &last) && c->number < last))
		return 1;
	if (journal_seal(c->number, seal, e) < 0)
		return -1;
	return memcmp(seal, c->seal, HASH_BYTES) == 0;
}

static int
refuse(const struct checkpoint *c, bool proven, struct err *e)
{
	uint64_t have = journal_durable();
	const char *what = proven ? "" : ", signed by another key";

	if (c->number > have)
		return err_set(e, ERR_unavailable,
		    "the audit log ends at record %" PRIu64 ", a checkpoint%s says %" PRIu64
		    ": restore the log, or start auditd once with --accept-loss=%" PRIu64,
		    have, what, c->number, c->number);
	return err_set(e, ERR_unavailable,
	    "record %" PRIu64 " of %" PRIu64 " in the audit log is not that of a checkpoint%s: "
	    "restore the log, or start auditd once with --accept-loss=%" PRIu64,
	    c->number, have, what, c->number);
}

int
witness_check(const char *text, uint64_t accept_loss, uint64_t *lost, bool *proven, struct err *e)
{
	struct checkpoint c;
	int status;

	*proven = false;
	if (key_signed(text))
		return 0;
	status = checkpoint_verify(text, key_public(), &c, e);
	if (status < 0 && e->code != ERR_not_found) {
		log_warn("a checkpoint is skipped", LOG_E(e));
		return 0;
	}
	*proven = status == 0;
	status = holds(&c, e);
	if (status != 0 || c.time_ms <= witness.accepted_ms)
		return status < 0 ? -1 : 0;
	if (c.number != accept_loss)
		return refuse(&c, *proven, e);
	log_warn("the loss of records is accepted", LOG_N("checkpoint", c.number),
	    LOG_N("records", journal_durable()));
	witness_accepted(c.time_ms);
	*lost = c.number;
	return 0;
}

static int
longest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct kept *)a)->number, y = ((const struct kept *)b)->number;

	return x > y ? -1 : x < y;
}

static uint64_t
number_in(const char *text)
{
	struct checkpoint c;
	struct err ignored;

	return checkpoint_read(text, &c, &ignored) == 0 ? c.number : 0;
}

int
witness_start(uint64_t accept_loss, uint64_t *lost, struct err *e)
{
	bool proven;

	for (size_t i = 0; i < witness.count; i++)
		witness.kept[i].number = number_in(witness.kept[i].text);
	/* The error names the checkpoint with the most records. */
	qsort(witness.kept, witness.count, sizeof witness.kept[0], longest_first);
	for (size_t i = 0; i < witness.count; i++)
		if (witness_check(witness.kept[i].text, accept_loss, lost, &proven, e) < 0) {
			log_error("the log lacks records of a daemon's checkpoint",
			    LOG_S("kept_by", witness.kept[i].directory), LOG_E(e));
			return -1;
		}
	log_info("the log holds the checkpoints that other daemons keep",
	    LOG_N("checkpoints", witness.count), LOG_N("records", journal_durable()));
	return 0;
}
