/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the rows of options.def; trusts the operator who sets them. */
#include "executor/approvald/options.h"

struct options options;

const struct setting options_table[] = {
/* clang-format off */
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &options.name, fallback, low, high, also, doc },
#include "executor/approvald/options.def"
	/* clang-format on */
	{ 0 },
};
