/* SPDX-License-Identifier: Apache-2.0 */
/* danger.h - warns of code that will not end, uses up memory, runs text or misspells names. */
#pragma once

#include "validator/python/program.h"

/* Adds to the recommendations; never a finding. */
int danger_advise(const struct program *, struct report *, struct err *);
