/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the table of secretd's settings.  Trusts the operator. */
#include "executor/secretd/options.h"

struct options options;

const struct setting options_table[] = {
/* clang-format off */
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &options.name, fallback, low, high, also, doc },
#include "executor/secretd/options.def"
	/* clang-format on */
	{ 0 },
};
