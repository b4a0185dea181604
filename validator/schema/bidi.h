/* SPDX-License-Identifier: Apache-2.0 */
/* bidi.h - the rule of RFC 5893 for names with letters that are written from right to left. */
#pragma once

#include <stdbool.h>

/* Does each label of a domain fit if any has such a letter? A-labels count as what they encode. */
bool bidi_fits(const char *domain);
