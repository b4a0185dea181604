/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper_io.h - how the parts of a file helper open files and report to the executor. */
#pragma once

#include "executor/builder/files/file_frame.h"

/* Opens path beneath dir without following any link; -1 with errno. */
int file_helper_open(int dir, const char *path, int flags);
enum file_frame_fault file_helper_fault(int sys);
/* Waits until the executor accepts the frame; -1: the executor has closed the channel. */
int file_helper_tell(int fd, const struct file_frame *);
