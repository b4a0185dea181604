/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - a bound on what the interpreter may allocate. */
#pragma once

#include <stdint.h>

/*
 * Between Py_PreInitialize() and Py_Initialize().  Beyond the bound Python sees MemoryError, which
 * ends the one check; the rest of the process keeps its memory.
 */
void memory_bound(uint64_t bytes);
/* Bytes the interpreter has now. */
uint64_t memory_used(void);
