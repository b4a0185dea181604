/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - the event loop of a process: descriptors, timers and hooks that run before each wait.
 *
 * A process has one loop, so these functions take no handle. Everything runs in the thread that
 * called loop_run(); a callback may watch, forget, set and stop anything, including itself.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

int loop_open(struct err *); /* an epoll descriptor; before the jail or in it */
void loop_close(void);

/* events: EPOLLIN | EPOLLOUT. The caller keeps the descriptor and must forget it before closing it.
 */
int loop_watch(
    int fd, uint32_t events, void (*ready)(void *self, uint32_t events), void *self, struct err *);
int loop_change(int fd, uint32_t events, struct err *);
void loop_forget(int fd);

/* Fires once; the id is never 0. loop_unset() ignores 0 and timers that have fired. */
uint64_t loop_after(int64_t ms, void (*fire)(void *self), void *self);
void loop_unset(uint64_t timer);

/*
 * drain() is called before every wait. It returns true if it did something or has more to do; then
 * the loop does not sleep yet. For edge-triggered descriptors that may have lost an edge (ZMQ_FD).
 */
int loop_before_wait(bool (*drain)(void *self), void *self, struct err *);

/* Milliseconds and microseconds of CLOCK_MONOTONIC. */
int64_t loop_now_ms(void);
int64_t loop_now_us(void);

/*
 * Blocks the termination signals for this thread and all threads it starts: SIGTERM, SIGINT, and
 * SIGHUP unless it was ignored (nohup). Returns a descriptor that becomes readable when one
 * arrives. Call it while the process may still create descriptors.
 */
int loop_ends(struct err *);

int loop_run(struct err *); /* until loop_stop() */
void loop_stop(void);
