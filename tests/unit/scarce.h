/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scarce.h - simulates a full disk, an exceeded quota, and a full table of files at the points
 * that a test selects.
 *
 * For programs linked with the wraps of `scarce` in CMakeLists.txt. The standard streams are not
 * affected.
 */
#pragma once

#include <stddef.h>

/* So many more bytes can be written to files. A larger write is cut short; the next one fails
 * with sys. */
void scarce_room(size_t bytes, int sys);
/* No file can be created or opened; the error is sys. */
void scarce_files(int sys);
/* Ends all shortages. */
void scarce_over(void);
