/* SPDX-License-Identifier: Apache-2.0 */
/* mime.h - what kind of file it is, as a client is told. */
#pragma once

#include "common/schema.h"

/* By its name alone, where the content is not at hand; static. */
const char *mime_of_name(const char *filename);
/* By its content, and by its name where that fits the content; static. */
const char *mime_of(const char *filename, const struct blob *content);
