/* SPDX-License-Identifier: Apache-2.0 */
/* keeper_link.h - the daemon's side of the keeper, which it starts before its jail. */
#pragma once

#include "executor/secretd/keeper.h"
#include "executor/secretd/order.h"

/* In open(): forks the keeper, which enters a jail of its own, and wipes the plan's credentials. */
int keeper_link_open(struct keeper_plan *, struct err *);
/* In start(). answered: for each keeper_link_serve(), in this order, also from within a later one.
 * ended: the keeper has ended. */
int keeper_link_start(
    void (*answered)(const struct order_answer *), void (*ended)(void), struct err *);
/* An order; names belong to the caller. -1: the keeper has ended. */
int keeper_link_serve(const char *run, const struct texts *names, struct err *);
void keeper_link_end(const char *run);
/* Passes copies of both sockets. */
int keeper_link_connect(const char *run, const char *name, const int fds[2], struct err *);
void keeper_link_close(void);
