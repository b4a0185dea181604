/* SPDX-License-Identifier: Apache-2.0 */
/* file_helper.h - the file helper.  The executor includes only file_frame.h and order.h. */
#pragma once

#include "executor/builder/files/file_frame.h"

/* Serves the directory root until fd is closed: 0; 1 if the channel breaks.  file_helper_main()
 * does so with /workspace. */
int file_helper_serve(int fd, int root);
