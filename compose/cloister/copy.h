/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - `cloister put`, `get` and `cp`. Each returns the exit code of the command. */
#pragma once

int copy_put(int argc, char **argv);
int copy_get(int argc, char **argv);
int copy_either(int argc, char **argv);
