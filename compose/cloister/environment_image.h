/* SPDX-License-Identifier: Apache-2.0 */
/* environment_image.h - environments that are made of images. */
#pragma once

#include "common/base/err.h"

/* Has cloister-unpack put the image's files into an empty directory.  image: as
 * oci-layout:DIRECTORY[:TAG]. */
int environment_image_unpack(const char *image, const char *directory, struct err *);
