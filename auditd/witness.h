/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - does the log still hold the checkpoints that other daemons keep?
 *
 * Each daemon that sends events here keeps the newest checkpoint in its own state directory, under
 * its own uid (common/journal/spool.h).  The start compares those that can be read.  Every daemon
 * also sends its checkpoint with its events, so that daemons on other machines or in other
 * containers are covered too.
 *
 * The setting accept_loss accepts a loss; it names the record count of the refused checkpoint.  The
 * log then has a record of it, and checkpoints that were signed earlier are no longer compared.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the jail: loads the checkpoints that other daemons keep below the state directory. */
int witness_open(const char *state_root, struct err *);
/* The log accepted a loss at that time. */
void witness_accepted(uint64_t time_ms);
/* The time of the newest one; 0: none. */
uint64_t witness_accepted_ms(void);

/*
 * Compares all loaded checkpoints.  -1: the log does not hold one of them, and *e says what to do.
 * *lost: the record count of a checkpoint whose loss this start accepts and must record; 0: none.
 */
int witness_start(uint64_t accept_loss, uint64_t *lost, struct err *);
/* The same for a text that a daemon sent.  *proven: the key of this log signed it. */
int witness_check(
    const char *text, uint64_t accept_loss, uint64_t *lost, bool *proven, struct err *);
