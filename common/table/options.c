/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - the settings of one daemon; trusts the operator who sets them. CMake compiles it into
 * the library of each daemon that has an options.h, with OPTIONS_H as the path of that.
 */
#include OPTIONS_H

struct options options;

const struct setting options_table[] = {
/* clang-format off */
#define SETTING(name, kind, fallback, low, high, also, doc) \
	{ #name, KIND_##kind, &options.name, fallback, low, high, also, doc },
#include OPTIONS
	/* clang-format on */
	{ 0 },
};
