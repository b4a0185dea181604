/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the table of egress's settings.  Trusts the operator. */
#include "executor/egress/options.h"

struct options options;

const struct setting options_table[] = {
/* clang-format off */
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &options.name, fallback, low, high, also, doc },
#include "executor/egress/options.def"
	/* clang-format on */
	{ 0 },
};
