/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_base.h - where the programs of a box whose network reaches a package index install packages
 * themselves: /user/base, as pip's directory of a user, and the configuration of pip and npm beside
 * it.  Nothing of it outlives the box.
 */
#pragma once

#include "common/base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Variables of the builder's own environment with the texts of the two files.  They are no
 * arguments, because all users of the host can read those. */
#define USER_BASE_PIP "CLOISTER_BUILDER_PIP"
#define USER_BASE_NPM "CLOISTER_BUILDER_NPM"

/* Mounts a tmpfs for that owner, and the files, in that mount namespace.  A second time it covers
 * the first. */
int user_base_mount(int space, uid_t owner, uint64_t bytes, struct err *);
