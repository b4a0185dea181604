/* SPDX-License-Identifier: Apache-2.0 */
/* asked.c - implements asked.h. */
#include "asked.h"

#include "scarce.h"
#include "scratch.h"

#include "common/base/auto.h"
#include "common/base/timestamp.h"
#include "common/journal/spool.h"
#include "executor/approvald/answer.h"

#include <fcntl.h>

struct asked asked = { .directory = "/tmp/cloister-approvald-XXXXXX", .state = -1 };
const struct owner asked_ann = { "local:1000", "" }, asked_bob = { "token:bob", "" };

uint64_t __wrap_timestamp_ms(void);
int __wrap_spool_record(struct audit_event *event, struct err *e);
void __wrap_call_reply(struct call *call, void *reply);

uint64_t
__wrap_timestamp_ms(void)
{
	return asked.now_ms;
}

int
__wrap_spool_record(struct audit_event *event, struct err *e)
{
	if (asked.spool_full)
		return err_set(e, ERR_unavailable, "the spool is full");
	asked.events++;
	asked.event = event->event;
	snprintf(asked.detail, sizeof asked.detail, "%s", event->detail);
	return 0;
}

void
__wrap_call_reply(struct call *call, void *reply)
{
	(void)call;
	asked.replies++;
	if (asked.replied != NULL)
		asked.replied(reply);
}

int
asked_set_up(void **unused)
{
	struct err e;

	(void)unused;
	options = (struct options){ .approval_timeout_s = 120,
		.denial_s = 300,
		.session_hours = 24,
		.namespace_days = 366,
		.max_pending = 16,
		.max_records = 256,
		.max_all_records = 4096,
		.answer_by_elicitation = true,
		.answer_by_http = true };
	asked.now_ms = (uint64_t)ASKED_NOW * 1000;
	asked.spool_full = false;
	asked.events = asked.replies = 0;
	asked.replied = NULL;
	if (scratch_make(asked.directory) < 0)
		return -1;
	asked.state = open(asked.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return asked.state < 0 ? -1 : store_open(asked.state, &e);
}

int
asked_tear_down(void **unused)
{
	(void)unused;
	scarce_over();
	store_close();
	close(take_fd(&asked.state));
	return scratch_remove(asked.directory);
}

void
asked_restart(void)
{
	struct err e;

	store_close();
	assert_int_equal(store_open(asked.state, &e), 0);
}

struct wish
asked_wish(const char *subject)
{
	return (
	    struct wish){ .kind = approval_kind_egress, .owner = &asked_ann, .subject = subject };
}

struct approval *
asked_make(const struct wish *w)
{
	struct err e = { 0 };
	struct approval *a = request_make(w, asked.now_ms, &e);

	if (a == NULL)
		fail_msg("%s", e.text);
	return a;
}

void
asked_answer(struct approval *a, int verdict, int duration)
{
	const struct answer given = { .verdict = verdict,
		.duration = duration,
		.channel = approval_channel_terminal,
		.by = "uid 0" };
	struct err e = { 0 };

	if (answer_apply(a, &given, asked.now_ms, &e) < 0)
		fail_msg("%s", e.text);
}
