/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h - the boxes and stewards that live, from an order to the answer that nothing is left. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* Makes the seccomp programs. */
int lives_open(const struct host *, struct err *);
/* Makes a box that runs nothing, and ends it: its layers, or why this host can have none. */
int lives_try(const struct host *, struct layers *, struct err *);
/* Carries out an order that order_check() passed; takes the descriptors.  The answer, if it is not
 * for later, goes through lives_answer. */
void lives_order(const struct order *, int *fds, size_t nfds);
/* The answer to an order that is not carried out. */
void lives_refuse(const struct order *, const struct err *);
/* Ends all and waits for them. */
void lives_end(void);

/* To the executor; main.c.  false: the kernel did not pass the descriptors, and it was told without
 * them, of a workspace as an error. */
bool lives_answer(const struct answer *, const int *fds, size_t nfds);
