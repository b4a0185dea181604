/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_huge.c - finds the control files by their names, because page sizes differ between
 * machines: hugetlb.2MB.max and hugetlb.2MB.rsvd.max in version 2, hugetlb.2MB.limit_in_bytes in
 * version 1.
 *
 * It is a second barrier: programs are refused the system calls that allocate such pages
 * (guest.def).
 */
#include "executor/builder/limits/cgroup_huge.h"

#include "common/base/auto.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

static bool
is_limit(const char *name)
{
	const char *last = strrchr(name, '.');

	return strncmp(name, "hugetlb.", strlen("hugetlb.")) == 0 &&
	       (strcmp(last, ".max") == 0 || strcmp(last, ".limit_in_bytes") == 0);
}

size_t
cgroup_huge_refuse(int directory)
{
	int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_dir DIR *dir = again < 0 ? NULL : fdopendir(again);
	size_t n = 0;

	for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
		if (!is_limit(entry->d_name))
			continue;
		auto_fd int knob =
		    openat(directory, entry->d_name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
		n += knob >= 0 && write(knob, "0", 1) == 1;
	}
	return n;
}
