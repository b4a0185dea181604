/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - memory of JSON values. */
#pragma once

/* Before the first value is made, by the thread that makes most of them. */
void pieces_open(void);
