/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.h - the process that all clients of a user share: it keeps the daemons running. */
#pragma once

/* Runs until it is stopped or idle. Returns the exit status. */
int supervisor_run(void);
