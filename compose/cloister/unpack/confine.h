/* SPDX-License-Identifier: Apache-2.0 */
/* confine.h - what this program gives up before it reads an image. */
#pragma once

#include "common/base/err.h"

/* Afterwards it can read below one directory, write below the other, and connect to nothing.  It
 * keeps its user, to whom the files will belong, without capabilities. */
int confine(int from, int to, struct err *);
