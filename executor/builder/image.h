/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - the files of an image in the place of the host's, in the boxes of an environment.
 *
 * The builder's root has each image in a directory of its own.  When a box is ready, clones of its
 * parts are mounted there over /usr and others, before a program starts.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* While the root is made: binds the directory with the image's files in it, read-only, without
 * devices and set-user-ID, and makes the directories that its parts will be mounted on. */
int image_bind(int root, uint32_t environment, const char *directory, struct err *);
/* Is there a program at this path of the image? */
bool image_has(uint32_t environment, const char *path);
/* For an environment that has an image; for another one it does nothing.  space: the mount
 * namespace of the box. */
int image_mount(uint32_t environment, int space, struct err *);
