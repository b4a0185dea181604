/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper.h - the file helper's parts.  The executor includes only file_frame.h and order.h. */
#pragma once

#include "executor/builder/files/file_frame.h"

/* Serves the directory root until fd is closed: 0; 1 if the channel breaks.  file_helper_main()
 * does so with /workspace. */
int file_helper_serve(int fd, int root);

/* Opens path beneath dir without following any link; -1 with errno. */
int file_helper_open(int dir, const char *path, int flags);
enum file_frame_fault file_helper_fault(int sys);
/* Waits until the executor accepts the frame; -1: the executor has closed the channel. */
int file_helper_tell(int fd, const struct file_frame *);
