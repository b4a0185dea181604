/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - does the log still hold the checkpoints that others keep of it?
 *
 * The daemons that report here each keep the newest checkpoint in their own folders of state, under
 * their own uids (common/journal/spool.h).  Those that can be read are compared at start; every
 * daemon also sends its own with its events, so one on another machine or in another container is
 * heard as well.
 *
 * A loss is accepted by the setting accept_loss, which names the number of records that the refused
 * checkpoint says.  That leaves a record in the log, and checkpoints that were signed before it are
 * not compared any more.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the jail: loads what the other daemons keep below the folder of all state. */
int witness_open(const char *state_root, struct err *);
/* A record of the log that accepted a loss was added at that time. */
void witness_accepted(uint64_t time_ms);

/*
 * Of all that were loaded.  -1: the log does not hold one of them, and *e says what to do.
 * *lost: the number of records of one whose loss is accepted with this start, and has to be
 * recorded; 0: none.
 */
int witness_start(uint64_t accept_loss, uint64_t *lost, struct err *);
/* The same of a text that a daemon sent.  *proven: it is signed by the key of this log. */
int witness_check(
    const char *text, uint64_t accept_loss, uint64_t *lost, bool *proven, struct err *);
