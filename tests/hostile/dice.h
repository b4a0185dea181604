/* SPDX-License-Identifier: Apache-2.0 */
/* dice.h - choices derived from a seed, so that every result can be reproduced (splitmix64). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

static inline uint64_t
dice_roll(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline size_t
dice_below(struct dice *d, size_t sides)
{
	return (size_t)(dice_roll(d) % sides);
}

/* True once in so many calls. */
static inline bool
dice_once(struct dice *d, size_t in)
{
	return dice_below(d, in) == 0;
}
