/* SPDX-License-Identifier: Apache-2.0 */
/* gc.h - removes contents that no snapshot needs, a few at a time. */
#pragma once

/* Runs now, and again every minute. */
void gc_run(void);
void gc_stop(void);
