/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_mount.h - makes the cgroup file systems of a container writable for the builder. */
#pragma once

#include "common/base/err.h"

/*
 * Gives this process a mount namespace of its own, in which every read-only cgroup mount becomes
 * writable.  Other processes of the container still see them read-only.  Needs CAP_SYS_ADMIN.
 */
int cgroup_mount_writable(struct err *);
