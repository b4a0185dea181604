/* SPDX-License-Identifier: Apache-2.0 */
/*
 * used.c - times in memory, and a timer that merges them into the file.
 *
 * Several gateways may share the file.  Each reads it before it writes, and a later time wins; a
 * time that two of them write at the same moment may be lost until the next use.
 */
#include "gateway/auth/used.h"

#include "common/credential/uses.h"

#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/must.h"
#include "common/daemon/daemon.h"

enum { WRITE_MS = 60000, FIRST_MS = 500 };

static json_t *unwritten;
static bool (*keeps)(const char *credential);
static uint64_t timer;
static int64_t written_ms;

static void
write_down(void *self)
{
	const char *credential;
	json_t *value;
	struct err e;

	(void)self;
	timer = 0;
	if (daemon_state() < 0 || json_object_size(unwritten) == 0)
		return;

	json_t *uses = uses_read(daemon_state());

	json_object_foreach(unwritten, credential, value)
	{
		uses_add(uses, credential, json_integer_value(value));
	}
	if (uses_write(daemon_state(), uses, keeps, &e) < 0)
		log_warn("the last use of tokens was not written", LOG_E(&e));
	json_decref(uses);
	json_object_clear(unwritten);
	written_ms = loop_now_ms();
}

void
used_open(bool (*known)(const char *credential))
{
	keeps = known;
	unwritten = json_object();
	must(unwritten != NULL);
}

void
used_note(const struct identity *who, int64_t now_s)
{
	if (who->source != IDENTITY_TOKEN || unwritten == NULL)
		return;
	uses_add(unwritten, who->credential, now_s);
	if (timer == 0)
		timer = loop_after(
		    written_ms == 0 || loop_now_ms() - written_ms > WRITE_MS ? FIRST_MS : WRITE_MS,
		    write_down, NULL);
}

void
used_close(void)
{
	loop_unset(timer);
	if (unwritten != NULL)
		write_down(NULL);
	json_decref(unwritten);
	unwritten = NULL;
}
