/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program that is checked, and by which policy. */
#pragma once

#include "validator/python/names.h"
#include "validator/report.h"
#include "validator/source.h"

struct program {
	const struct source *source;
	const struct policy *policy;
	struct tree tree;
	struct names names;
};
