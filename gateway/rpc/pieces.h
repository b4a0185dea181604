/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - the allocator of JSON values. */
#pragma once

/* Call before the first value is made, in the thread that makes most of them. */
void pieces_open(void);
