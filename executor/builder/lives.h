/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h - the table of boxes, programs and file helpers, from the order to ANSWER_ENDED. */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* Compiles the seccomp programs. */
int lives_open(const struct host *, struct err *);
/* Makes a box that runs no code, and ends it.  Returns its layers, or the reason why this host
 * cannot run boxes. */
int lives_try(const struct host *, struct layers *, struct err *);
/* Executes an order that order_check() has passed.  Takes ownership of the descriptors.  The
 * answer is sent through lives_answer(), now or later. */
void lives_order(const struct order *, int *fds, size_t nfds);
/* Answers an order that is not executed. */
void lives_refuse(const struct order *, const struct err *);
/* Kills all objects and waits for their ends. */
void lives_end(void);

/* Sends an answer to the executor (main.c).  False: the kernel did not pass the descriptors.
 * The answer was then sent without them; for a workspace, as an error. */
bool lives_answer(const struct answer *, const int *fds, size_t nfds);
