/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validator - checks code against the rules of a profile, by the real parser of its language.
 *
 * Trusts nobody: what it reads is a model's or an attacker's, and parsers have faults.  So it holds
 * nothing that others must not have: no file, no network, no state, no way to start a program.
 * Parsers are in processes of their own, which have not even the bus and the calls of others; all
 * that one could want to load is loaded before its jail.
 */
#include "validator/python/python.h"
#include "validator/queue.h"

#include "common/daemon/daemon.h"

#include <seccomp.h>

/* clang-format off */
static struct {
#define SETTING(name, kind, ...) C_##kind name;
#include "validator/options.def"
} options;
/* clang-format on */

/* In a process that checks. */
static int
settle(struct err *e)
{
	return python_open(options.max_memory_mb << 20, e) < 0 ? -1 : daemon_confine(e);
}

static void
short_of_one(void)
{
	daemon_end("a process that checks has ended");
}

static int
open_queue(struct err *e)
{
	return queue_open(&(struct queue_config){ .plan = { options.max_code_bytes, settle },
			      .max_waiting = options.max_waiting,
			      .max_waiting_each = options.max_waiting_each,
			      .workers = options.workers,
			      .short_of_one = short_of_one },
	    e);
}

static int
on_validate_code(struct call *call, void *request, struct err *e)
{
	return queue_submit(call, request, e);
}

/* clang-format off */
static const struct setting settings[] = {
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &options.name, fallback, low, high, also, doc },
#include "validator/options.def"
	{ 0 },
};
/* clang-format on */

static const struct route routes[] = {
	{ MSG_validate_code, FROM(gateway) | FROM(executor), on_validate_code },
	{ 0 },
};

static const int refused[] = {
#define REFUSE(name) SCMP_SYS(name),
#include "validator/syscalls.def"
	-1,
};

static const struct daemon self = {
	.self = PEER_validator,
	.settings = settings,
	.routes = routes,
	.refused = refused,
	.memory_bytes =
	    2ULL << 30, /* parsing has a bound of its own; threads reserve more than they use */
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
