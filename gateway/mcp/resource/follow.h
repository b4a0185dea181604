/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - receives from every executor what changed, by whichever gateway, while any client of
 * this gateway listens.
 */
#pragma once

/* Call before clients connect. */
void follow_start(void);
