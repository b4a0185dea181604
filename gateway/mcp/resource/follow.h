/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - hears from every executor what changed, through whichever gateway, while some client
 * of this one listens.
 */
#pragma once

/* Before clients come. */
void follow_start(void);
