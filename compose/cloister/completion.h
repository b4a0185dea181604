/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - `cloister completion`: completes commands, flags and tools in a shell. */
#pragma once

int completion_print(int argc, char **argv);
