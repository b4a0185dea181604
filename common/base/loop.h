/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - the one event loop of a process: descriptors, timers, and what must run before it
 * sleeps.
 *
 * A process has one loop, so these functions take none.  Everything runs in the thread that called
 * loop_run(); a callback may watch, forget, set and stop anything, itself too.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

int loop_open(struct err *); /* an epoll descriptor; before the jail or in it */
void loop_close(void);

/* events: EPOLLIN | EPOLLOUT.  The descriptor stays the caller's; forget it before it is closed. */
int loop_watch(
    int fd, uint32_t events, void (*ready)(void *self, uint32_t events), void *self, struct err *);
int loop_change(int fd, uint32_t events, struct err *);
void loop_forget(int fd);

/* Fires once; the id is never 0.  loop_unset(0) and of a fired one do nothing. */
uint64_t loop_after(int64_t ms, void (*fire)(void *self), void *self);
void loop_unset(uint64_t timer);

/*
 * Called before every wait; true: it did something, or has more to do, so do not sleep yet.  For
 * sources whose descriptor is edge-triggered and may have lost its edge (ZMQ_FD).
 */
int loop_before_wait(bool (*drain)(void *self), void *self, struct err *);

/* Milliseconds and microseconds of CLOCK_MONOTONIC. */
int64_t loop_now_ms(void);
int64_t loop_now_us(void);

/*
 * Blocks the signals that ask a process to end in order, for this thread and all it starts, and
 * returns a descriptor that is readable when one came: SIGTERM, SIGINT, and SIGHUP, as of a
 * terminal that is closed, unless it was ignored (nohup).  For whoever may still make descriptors.
 */
int loop_ends(struct err *);

int loop_run(struct err *); /* until loop_stop() */
void loop_stop(void);
