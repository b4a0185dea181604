/* SPDX-License-Identifier: Apache-2.0 */
/* replies.h - daemons behind a fuzzed gateway: a bus that answers as the input says. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bit 0: daemons are there; 1: they succeed; 2: they say all they can; 3: they are slow. */
void replies_choose(uint8_t how);
/* How many are asked for. */
size_t replies_wanted(void);
bool replies_slow(void);
/* Of what was asked first. */
void replies_give(void);
