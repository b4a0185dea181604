/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.h - the process that all clients of a user share: it keeps the daemons running. */
#pragma once

/* Until it is told to end, or idle; the exit status. */
int supervisor_run(void);
