/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_huge.h - huge pages of the host's pool, which no limit of memory counts. */
#pragma once

#include <stddef.h>

/*
 * Sets each limit and each reservation of huge pages in the group to 0, which holds for all groups
 * below it.  Returns how many it set: 0 where the group has no hugetlb controller.
 */
size_t cgroup_huge_refuse(int directory);
