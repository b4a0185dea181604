/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validator - checks code against the rules of a profile, with the real parser of its language.
 *
 * Trusts nobody: its input comes from a model or an attacker, and parsers have faults.  It
 * therefore holds nothing: no file, no network, no state, no way to start a program.  Parsers run
 * in separate processes, which have no access to the bus and to other calls.  Everything that a
 * parser may need to load is loaded before its jail.
 */
#include "validator/check.h"
#include "validator/csv/charset.h"
#include "validator/csv/csv.h"
#include "validator/options.h"
#include "validator/python/python.h"
#include "validator/queue.h"
#include "validator/schema/validate.h"

#include "common/daemon/daemon.h"

#define SYSCALLS "validator/syscalls.def"
#include "common/daemon/own_syscalls.h"

/* In a worker process. */
static int
settle(struct err *e)
{
	charset_open();
	return python_open(options.max_memory_mb << 20, e) < 0 ? -1 : daemon_confine(NULL, e);
}

/* In a worker process. */
static int
check_validate_code(void *request, void *reply, struct err *e)
{
	return check_code(request, options.max_code_bytes, reply, e);
}

static int
check_validate_csv_data(void *request, void *reply, struct err *e)
{
	return csv_check(request, reply, e);
}

/* In a worker process. */
static int
check_validate_json_data(void *request, void *reply, struct err *e)
{
	return validate_json(request, reply, e);
}

static const struct checker checkers[] = {
	{ MSG_validate_code, check_validate_code },
	{ MSG_validate_csv_data, check_validate_csv_data },
	{ MSG_validate_json_data, check_validate_json_data },
	{ 0 },
};

static void
short_of_one(void)
{
	daemon_end("a worker process has ended");
}

static int
open_queue(struct err *e)
{
	return queue_open(&(struct queue_config){ .plan = { checkers, settle },
			      .max_waiting = options.max_waiting,
			      .max_waiting_each = options.max_waiting_each,
			      .workers = options.workers,
			      .short_of_one = short_of_one },
	    e);
}

static int
on_validate_code(struct call *call, void *request, struct err *e)
{
	return queue_submit(call, request, ((struct validate_code *)request)->code.size, e);
}

static int
on_validate_csv_data(struct call *call, void *request, struct err *e)
{
	const struct validate_csv_data *ask = request;

	return queue_submit(call, request, ask->csv_content.size + ask->csv_base64.size, e);
}

static int
on_validate_json_data(struct call *call, void *request, struct err *e)
{
	const struct validate_json_data *ask = request;

	return queue_submit(
	    call, request, ask->data.size + ask->schema_name_or_dict.size + ask->documents.size, e);
}

static const struct route routes[] = {
	{ MSG_validate_code, FROM(gateway) | FROM(executor), on_validate_code },
	{ MSG_validate_csv_data, FROM(gateway), on_validate_csv_data },
	{ MSG_validate_json_data, FROM(gateway) | FROM(executor), on_validate_json_data },
	{ 0 },
};

static const struct daemon self = {
	.self = PEER_validator,
	.settings = options_table,
	.routes = routes,
	.syscalls = syscalls,
	.refused = refused,
	.memory_bytes =
	    2ULL << 30, /* parsing has its own limit; threads reserve more than they use */
	.open = open_queue,
	.start = queue_start,
	.stop = queue_stop,
	.load = queue_load,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
