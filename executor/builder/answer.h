/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h - sends the builder's answers to the executor. */
#pragma once

#include "executor/builder/order.h"

/* False: the kernel did not pass the descriptors.  The answer was then sent without them; for a
 * workspace, as an error.  If the executor has ended, stops the loop. */
bool answer_send(const struct answer *, const int *fds, size_t nfds);
/* Answers an order that is not executed. */
void answer_refuse(const struct order *, const struct err *);
