/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validator - checks code against the rules of a profile, by the real parser of its language.
 *
 * Trusts nobody: what it reads is a model's or an attacker's, and parsers have faults.  So it holds
 * nothing that others must not have: no file, no network, no state, no way to start a program.  All
 * that a parser could want to load is loaded before the jail.
 */
#include "validator/python/python.h"
#include "validator/worker.h"

#include "common/daemon.h"

#include <seccomp.h>

static uint64_t max_code_bytes, max_waiting, max_waiting_each, max_memory_mb;

static int
open_parsers(struct err *e)
{
	return python_open(max_memory_mb << 20, e);
}

static int
start_worker(struct err *e)
{
	return worker_start(&(struct worker_config){ .max_code_bytes = max_code_bytes,
				.max_waiting = max_waiting,
				.max_waiting_each = max_waiting_each,
				.enter = python_enter,
				.leave = python_leave },
	    e);
}

static void
stop(void)
{
	worker_stop();
	python_close();
}

static int
on_validate_code(struct call *call, void *request, struct err *e)
{
	return worker_submit(call, request, e);
}

static const struct setting settings[] = {
	{ "max_code_bytes", KIND_UINT, &max_code_bytes, "1048576", 1, 1048576, NULL,
	    "Bytes of code that are checked." },
	{ "max_waiting", KIND_UINT, &max_waiting, "64", 1, 1024, NULL, "Checks that may wait." },
	{ "max_waiting_each", KIND_UINT, &max_waiting_each, "16", 1, 1024, NULL,
	    "Of these, checks of one principal." },
	{ "max_memory_mb", KIND_UINT, &max_memory_mb, "512", 64, 1024, NULL,
	    "MiB that parsing may take; code that needs more is refused." },
	{ 0 },
};

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
	.summary = "check code against the rules of a profile",
	.settings = settings,
	.routes = routes,
	.refused = refused,
	.memory_bytes =
	    2ULL << 30, /* parsing has a bound of its own; threads reserve more than they use */
	.open = open_parsers,
	.start = start_worker,
	.stop = stop,
	.load = worker_load,
};

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv, &self);
}
