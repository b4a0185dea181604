/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - calls in progress.
 *
 * Trusts the bus to end each request exactly once.  Arguments come from a model, and the bus has
 * validated the replies.  The state of calls is bounded: their number, and the bytes of their
 * messages.
 *
 * Large replies are bounded by bytes (reserve.h) until they are converted to text, which the
 * transport bounds.  A read of a file reserves its bytes before it is sent.  If no reply comes
 * soon, it releases them, and its reply must reserve again when it arrives.
 */
#include "gateway/mcp/calls.h"

#include "gateway/compat/compat.h"
#include "gateway/lease.h"
#include "gateway/mcp/arguments.h"
#include "gateway/mcp/input.h"
#include "gateway/mcp/links.h"
#include "gateway/mcp/logging.h"
#include "gateway/mcp/progress.h"
#include "gateway/mcp/result.h"
#include "gateway/mcp/tools.h"
#include "gateway/options.h"
#include "gateway/task/task.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "common/base/reserve.h"
#include "common/base/work.h"
#include "common/bus/bus.h"
#include "common/codec/jschema.h"

#include <string.h>

enum {
	LEFT_MS = 60000,             /* to end a session whose client never learned its id */
	REPEAT_BYTES = 12 * 1048576, /* arguments kept for a retry */
	LAPSE_MS = 1000, /* how long bytes stay reserved for a reply that does not come */
};

/* A call with both hints may be repeated safely. */
static const unsigned repeatable = READ_ONLY | IDEMPOTENT;

struct call_out {
	struct pending pending;
	struct progress progress;
	struct account *account;
	enum msg_id tool;
	enum calls_as as;
	struct compat_call *compat; /* NULL: the call is in the form of core */
	struct given given;         /* field NULL: the arguments are complete */
	uint64_t ask, long_timer;
	struct task_keeping *keeping; /* NULL: it is not being made a task */
	int64_t begun_ms, due_ms;
	size_t bytes;
	json_t *arguments; /* for a retry, or the first attempt; NULL: none */
	bool once;         /* for the first attempt only */
	struct reservation reservation;
	uint64_t lapse;          /* a timer */
	struct telling *telling; /* a large reply */
	char trace[56];
	/* For a call whose client has left: of the members above, only ask is still valid. */
	bool left;
	struct owner owner;
};

/* ---- reserved bytes ---- */

static void
give_back(void *self)
{
	struct call_out *call = self;

	reserve_release(&call->reservation);
	loop_unset(call->lapse);
	call->lapse = 0;
}

static struct reservation
reservation_of(const struct call_out *call, size_t bytes, void (*granted)(struct reservation *))
{
	return (struct reservation){
		.owner = &call->account->owner, .bytes = bytes, .granted = granted
	};
}

static struct call_out *
holder_of(struct reservation *r)
{
	return (struct call_out *)((char *)r - offsetof(struct call_out, reservation));
}

/* ---- the end of a call ---- */

/* Call before the answer, because the client may be freed by it. */
static void
settle(struct call_out *call)
{
	call->account->count--;
	call->account->held -= call->bytes;
	give_back(call);
	loop_unset(call->long_timer);
	task_leave(take_ptr(call->keeping));
	progress_close(&call->progress);
	json_decref(call->arguments);
	blob_clear(&call->given.bytes);
	compat_close(take_ptr(call->compat));
}

/* Takes the message. */
static void
finish(struct call_out *call, json_t *message)
{
	settle(call);
	client_end(&call->pending, message);
	free(call);
}

/* Takes the result; NULL: memory is exhausted. */
static json_t *
message_of(const struct origin *to, json_t *result)
{
	json_t *message = result == NULL ? NULL : jsonrpc_result(to->id, result);

	return message != NULL ? message : jsonrpc_error(to->id, RPC_INTERNAL, "out of memory");
}

static json_t *
say_error(const struct origin *to, const struct call_out *call, const struct err *e)
{
	if (call->as == CALLS_VALUE)
		return result_rpc_error(to->id, e);
	if (call->compat != NULL)
		return message_of(to, compat_error(call->compat, to->revision, e));
	return message_of(to, result_of_error(to->revision, e));
}

/* ---- the reply; a thread converts a long one to JSON ---- */

struct telling {
	struct work work;
	struct call_out *call;
	void *reply;
	struct rendered rendered;
};

static struct rendered
render(const struct call_out *call, void *reply)
{
	if (call->as != CALLS_VALUE)
		return result_render(call->tool, reply);
	return (struct rendered){ .value = jschema_write(messages[call->tool].reply, reply) };
}

static void
say_rendered(struct call_out *call, struct rendered rendered)
{
	const struct origin *to = &call->pending.origin;
	json_t *result = rendered.value;

	if (call->compat != NULL)
		result = compat_result(call->compat, to->revision, rendered);
	else if (call->as != CALLS_VALUE)
		result = result_of_rendered(to->revision, call->account, call->tool, rendered);
	finish(call, message_of(to, result));
}

static void
run(struct work *work)
{
	struct telling *t = (struct telling *)work;

	t->rendered = render(t->call, t->reply);
	message_clear(messages[t->call->tool].reply, t->reply);
}

static void
on_run(struct work *work)
{
	struct telling t = *(struct telling *)work;

	free(t.reply);
	free(work);
	say_rendered(t.call, t.rendered);
}

/* The reply is about to be sent. */
static void
cancel_nothing(struct pending *unused)
{
	(void)unused;
}

static void
on_room(struct reservation *r)
{
	work_do(&holder_of(r)->telling->work);
}

/* Takes the contents of the reply. */
static void
prepare_telling(struct call_out *call, void *reply)
{
	size_t size = messages[messages[call->tool].reply].size;
	struct telling *t = calloc(1, sizeof *t);

	must(t != NULL);
	*t = (struct telling){
		.work = { .run = run, .done = on_run }, .call = call, .reply = malloc(size)
	};
	must(t->reply != NULL);
	memcpy(t->reply, reply, size);
	memset(reply, 0, size);
	call->telling = t;
	call->pending.cancel = cancel_nothing;
	loop_unset(call->long_timer);
	/* Else a task that is being made would end the call, while a thread has its reply. */
	task_leave(take_ptr(call->keeping));
}

/* A reply that the client can request again may not wait in memory. */
static bool
refuse_reply(const struct call_out *call, size_t bytes, struct err *e)
{
	if ((messages[call->tool].hints & repeatable) != repeatable)
		return false;
	err_set(e, ERR_queue_full,
	    "no memory for the reply of %zu bytes: large replies use all of their %d bytes, or "
	    "nearly; call again",
	    bytes, RESERVE_EACH);
	e->retry_ms = ACCOUNT_RETRY_MS;
	return true;
}

static void
say_later(struct call_out *call, void *reply, size_t bytes)
{
	bool held = call->reservation.state == RESERVE_HELD && bytes <= call->reservation.bytes;
	struct err e;

	loop_unset(call->lapse);
	call->lapse = 0;
	if (!held) {
		reserve_release(&call->reservation);
		call->reservation = reservation_of(call, bytes, on_room);
		held = reserve_try(&call->reservation);
	}
	if (!held && refuse_reply(call, bytes, &e)) {
		finish(call, say_error(&call->pending.origin, call, &e));
		return;
	}
	prepare_telling(call, reply);
	if (held || reserve_take(&call->reservation))
		work_do(&call->telling->work);
}

static void
say(struct call_out *call, void *reply)
{
	size_t bytes = arguments_bytes(messages[call->tool].reply, reply);

	if (bytes > WORK_BYTES)
		say_later(call, reply, bytes);
	else
		say_rendered(call, render(call, reply));
}

/* Logs the outcome to a client that requested log messages. */
static void
tell(const struct call_out *call, const void *reply, const struct err *e)
{
	const struct origin *origin = &call->pending.origin;

	if (call->as == CALLS_VALUE)
		return;
	if (origin->log_from != LOGGING_none && !call->pending.silent)
		logging_say(origin, reply != NULL ? LOGGING_info : LOGGING_warning, "tools",
		    json_pack("{s:s, s:s, s:I}", "tool", messages[call->tool].name, "outcome",
			reply != NULL ? "answered" : err_name(e->code), "ms",
			(json_int_t)(loop_now_ms() - call->begun_ms)));
}

/* ---- a call whose client has left ---- */

static void
on_ended(void *self, void *reply, const struct err *e)
{
	(void)self;
	if (reply == NULL)
		log_warn("cannot end the session of a cancelled call", LOG_E(e));
}

/* Only the lost answer would have named the session. */
static void
end_session(const struct call_out *call, const char *session)
{
	enum msg_id tool = tools_with(ENDS_SESSION);
	auto_free void *request = calloc(1, messages[tool].size);
	char instance[64];
	bool routed = arguments_instance("sess_", session, instance, sizeof instance);
	struct err e;
	const struct ask it = { .to = messages[tool].server,
		.instance = routed ? instance : NULL,
		.home = !routed,
		.message = tool,
		.request = request,
		.owner = &call->owner,
		.timeout_ms = LEFT_MS,
		.done = on_ended };

	must(request != NULL);
	*arguments_slot(tool, request, "session_id") = session;
	if (bus_ask(&it, &e) == 0)
		on_ended(NULL, NULL, &e);
}

static void
on_left_done(struct call_out *call, void *reply)
{
	if (reply != NULL)
		end_session(call, arguments_text(messages[call->tool].reply, reply, "session_id"));
	free(call);
}

/* Ends the request for the client, while the call continues here. */
static void
leave(struct call_out *call)
{
	struct err e;

	call->owner = call->account->owner;
	err_set(&e, ERR_cancelled, "%s was cancelled", messages[call->tool].name);
	tell(call, NULL, &e);

	json_t *says = call->pending.silent ? NULL : say_error(&call->pending.origin, call, &e);

	call->left = true;
	settle(call);
	client_end(&call->pending, says);
}

static int ask(struct call_out *, json_t *arguments, struct err *);

/* Repeats a call that was lost with its daemon, once, if it changes nothing. */
static bool
again(struct call_out *call, const struct err *e)
{
	json_t *arguments = take_ptr(call->arguments);
	struct err ignored;

	if (arguments == NULL)
		return false;

	bool asked = e->code == ERR_unavailable && !call->pending.silent &&
	             ask(call, arguments, &ignored) == 0;

	json_decref(arguments);
	return asked;
}

static void
on_done(void *self, void *reply, const struct err *e)
{
	struct call_out *call = self;

	if (call->left) {
		on_left_done(call, reply);
		return;
	}
	if (reply == NULL && again(call, e))
		return;
	if (reply == NULL)
		log_debug("call failed", LOG_S("tool", messages[call->tool].name),
		    LOG_S("code", err_name(e->code)));
	if (reply != NULL)
		links_fill(&call->pending.origin, messages[call->tool].reply, reply);
	tell(call, reply, e);
	if (call->pending.silent)
		finish(call, NULL);
	else if (reply != NULL)
		say(call, reply);
	else
		finish(call, say_error(&call->pending.origin, call, e));
}

static void
on_part(void *self, const struct stream_part *part)
{
	struct call_out *call = self;

	if (!call->left && !call->pending.silent)
		progress_part(&call->progress, part);
}

/* ---- beginning a call ---- */

static int
send_request(struct call_out *call, void *request, struct err *e)
{
	const struct message *m = &messages[call->tool];
	int64_t left_ms = call->due_ms - loop_now_ms();
	const char *session = arguments_text(call->tool, request, "session_id");
	char instance[64];
	bool routed = arguments_instance("sess_", session, instance, sizeof instance);
	struct ask it = { .to = arguments_server(call->tool, request),
		.instance = routed ? instance : NULL,
		.home = (m->hints & ANYWHERE) == 0,
		.message = call->tool,
		.request = request,
		.owner = &call->account->owner,
		.trace = call->trace[0] != '\0' ? call->trace : NULL,
		.timeout_ms = left_ms > 0 ? left_ms : 1,
		.self = call,
		.part = call->progress.token != NULL ? on_part : NULL,
		.done = on_done };

	lease_want();
	call->ask = bus_ask(&it, e);
	return call->ask == 0 ? -1 : 0;
}

static int
ask(struct call_out *call, json_t *arguments, struct err *e)
{
	auto_free void *request = calloc(1, messages[call->tool].size);

	if (request == NULL)
		return err_sys(e, "make a request");

	int failed = call->compat != NULL ? jschema_read_own(call->tool, arguments, request, e)
	                                  : jschema_read(call->tool, arguments, request, e);

	if (failed == 0)
		failed = input_put(&call->given, request, call->arguments != NULL, e);
	if (failed == 0)
		failed = send_request(call, request, e);
	message_clear(call->tool, request);
	return failed;
}

static int
ask_for_file(struct call_out *call, json_t *arguments, struct err *e)
{
	call->lapse = loop_after(LAPSE_MS, give_back, call);
	return ask(call, arguments, e);
}

static void
on_reserved(struct reservation *reservation)
{
	struct call_out *call = holder_of(reservation);
	json_t *arguments = json_incref(call->arguments);
	struct err e;

	if (call->once)
		json_decref(take_ptr(call->arguments));
	if (ask_for_file(call, arguments, &e) < 0)
		on_done(call, NULL, &e);
	json_decref(arguments);
}

/* Sends the call, now or when its bytes are reserved. */
static int
ask_in_turn(struct call_out *call, json_t *arguments, struct err *e)
{
	size_t bytes = arguments_file_bytes(call->tool, arguments);

	if (bytes == 0)
		return ask(call, arguments, e);
	call->reservation = reservation_of(call, bytes, on_reserved);
	if (reserve_take(&call->reservation))
		return ask_for_file(call, arguments, e);
	call->once = call->arguments == NULL;
	if (call->once)
		call->arguments = json_incref(arguments);
	return 0;
}

static struct call_out *
make_call(const struct call_in *in, struct err *e)
{
	struct account *account = in->origin.client->account;
	struct call_out *call = calloc(1, sizeof *call);

	if (call == NULL) {
		err_sys(e, "make a call");
		return NULL;
	}
	*call = (struct call_out){ .account = account,
		.tool = in->tool,
		.as = in->as,
		.compat = in->compat,
		.begun_ms = loop_now_ms(),
		.due_ms = loop_now_ms() + (int64_t)options.call_timeout_ms,
		.bytes = in->bytes };
	arguments_trace(in->meta, call->trace);
	progress_open(
	    &call->progress, &call->pending.origin, json_object_get(in->meta, "progressToken"));
	if (in->given != NULL)
		call->given = input_move(in->given);
	/* Only if the daemon is connected now: if it never was, the call has already waited for
	 * it. */
	if ((messages[in->tool].hints & repeatable) == repeatable && in->bytes <= REPEAT_BYTES &&
	    bus_ready(messages[in->tool].server, NULL))
		call->arguments = json_incref(in->arguments);
	account->count++;
	account->held += in->bytes;
	return call;
}

static void
cancel_call(struct pending *p)
{
	struct call_out *call = (struct call_out *)p;

	if (call->reservation.state == RESERVE_WAITS) { /* not sent yet */
		struct err e;

		err_set(&e, ERR_cancelled, "%s was cancelled", messages[call->tool].name);
		json_decref(take_ptr(call->arguments));
		on_done(call, NULL, &e);
		return;
	}
	/* Such a call makes its session as soon as it is sent, so a cancel would come too late. */
	if ((messages[call->tool].hints & MAKES_SESSION) != 0)
		leave(call);
	else
		bus_cancel(call->ask);
}

/* From now on the executor owns the request.  result NULL: it does not, and the call continues
 * here. */
static void
on_task(void *self, json_t *result)
{
	struct call_out *call = self;

	call->keeping = NULL;
	if (result == NULL)
		return;
	bus_forget(call->ask);
	finish(call, message_of(&call->pending.origin, result));
}

/* The call takes long: the client gets a task, and fetches its result later. */
static void
on_long(void *self)
{
	struct call_out *call = self;

	call->long_timer = 0;
	if (!call->pending.silent)
		call->keeping = task_keep(call->account, call->ask, on_task, call);
}

json_t *
calls_begin(const struct call_in *in)
{
	json_t *none = NULL, *arguments = in->arguments;
	struct call_in whole = *in;
	struct err e;

	if (arguments == NULL)
		arguments = none = json_object();
	whole.arguments = arguments;

	struct call_out *call = account_admit(in->origin.client->account, in->bytes, &e) < 0
	                            ? NULL
	                            : make_call(&whole, &e);
	int failed = call == NULL ? -1 : ask_in_turn(call, arguments, &e);

	if (call != NULL && failed < 0) {
		call->compat = NULL;
		settle(call);
		free(call);
	}
	json_decref(none);
	if (failed == 0) {
		client_begin(&call->pending, &in->origin, cancel_call);
		if (in->task)
			call->long_timer =
			    loop_after((int64_t)options.task_after_ms, on_long, call);
		return NULL;
	}

	auto_compat struct compat_call *compat = in->compat;

	return say_error(&in->origin,
	    &(struct call_out){ .tool = in->tool, .as = in->as, .compat = compat }, &e);
}
