/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - limits what the interpreter may allocate. */
#pragma once

#include <stdint.h>

/*
 * Call it between Py_PreInitialize() and Py_Initialize().  Beyond the limit Python gets
 * MemoryError, which ends this one check; the rest of the process keeps its memory.
 */
void memory_bound(uint64_t bytes);
/* Bytes that the interpreter holds now. */
uint64_t memory_used(void);
