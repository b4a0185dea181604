/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervised.h - an environment for tests of `cloister up`: the real supervisor, with daemons that
 * do what a case requires.
 *
 * The test's program also plays those daemons and the gateway: it is copied beside a copy of
 * cloister under their names. All files are in a directory of the test, and processes are ended by
 * pid.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The resident daemons of peers.def. */
enum {
#define PLAYED_RESIDENT(name) PLAYED_##name,
#define PLAYED_PER_CLIENT(name)
#define PEER(name, directory, life, ...) PLAYED_##life(name)
#include "common/table/peers.def"
	DAEMONS
};

extern const char *const supervised_names[DAEMONS];

/* Plays the daemon that this program's name selects; returns only in the test.  more: called
 * before the daemon is ready, or NULL.  DEAF=validator: that daemon ignores SIGTERM. */
void supervised_play(int argc, char **argv, void (*more)(const char *name));

extern char run[64];

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int set_up(void **unused);
int tear_down(void **unused);

/* Starts cloister with these arguments; *out, if not NULL, reads its stdout, *in writes its
 * stdin. */
pid_t start(int *in, int *out, const char *const *arguments);
#define START(in, out, ...) start(in, out, (const char *const[]){ __VA_ARGS__, NULL })
int status_of(pid_t);
/* The output of `cloister status --json`, which the caller owns; NULL if no supervisor runs. */
json_t *ask(void);
json_t *daemon_of(const json_t *status, int i);
int64_t number(const json_t *object, const char *key);

/* Waits until all are ready; stores their pids, and returns that of the supervisor. */
pid_t wait_ready(pid_t pids[DAEMONS]);
void go_up(pid_t pids[DAEMONS]);
void wait_gone(pid_t);
