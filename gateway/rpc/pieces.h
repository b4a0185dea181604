/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - memory of JSON values. */
#pragma once

/* Before the first value is made.  From then on values are for one thread. */
void pieces_open(void);
