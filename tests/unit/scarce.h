/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scarce.h - a disk, a quota, a table of files that is used up, where a test wants it to be.
 *
 * For programs linked with the wraps of `scarce` in CMakeLists.txt; what goes to the standard
 * streams is let be.
 */
#pragma once

#include <stddef.h>

/* So many bytes more are written to files; of what does not fit as much as does, then sys. */
void scarce_room(size_t bytes, int sys);
/* No file can be made or opened: sys. */
void scarce_files(int sys);
/* There is enough of everything again. */
void scarce_over(void);
