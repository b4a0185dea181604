/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - hears from every executor what changed, through whichever gateway, while some client
 * of this one listens.
 */
#pragma once

/* A client listens from now on. */
void follow_begin(void);
