/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_huge.h - huge pages of the host's pool, which no memory limit counts. */
#pragma once

#include <stddef.h>

/*
 * Sets each limit and each reservation of huge pages in the cgroup to 0.  This holds for all
 * cgroups below it.  Returns how many it set: 0 if the cgroup has no hugetlb controller.
 */
size_t cgroup_huge_refuse(int directory);
