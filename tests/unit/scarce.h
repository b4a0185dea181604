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

/* So many bytes more are written to files; of what does not fit as much as does, then sys. */
void scarce_room(size_t bytes, int sys);
/* No file can be made or opened: sys. */
void scarce_files(int sys);
/* There is enough of everything again. */
void scarce_over(void);
