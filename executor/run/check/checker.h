/* SPDX-License-Identifier: Apache-2.0 */
/* checker.h - how a checker of guest/check/ is called, and how it is prepared ahead of a call. */
#pragma once

#include "executor/sandbox/sandbox.h"

/* An expression of JavaScript, in a box of Node. */
#define CHECKER_MODULE "require(\"/cloister/check/main.js\")"

/* The statement that makes a process of Node ready for one check of the language; it owns nothing.
 * false: the language has no checker. */
bool checker_preparation(unsigned language, struct sandbox_code *);
