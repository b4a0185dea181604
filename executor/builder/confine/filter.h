/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - seccomp programs made from tables of calls (guest/guest.def, file_helper.def,
 * builder.def).
 *
 * libseccomp makes them once, when the builder starts; what a box loads is the finished program.
 */
#pragma once

#include "common/base/err.h"

#include <linux/filter.h>
#include <stdint.h>

/* Whose calls; those of several may be joined. */
enum filter_who {
	FILTER_PYTHON = 1,
	FILTER_NODE = 2,
	FILTER_SHELL = 4,
	FILTER_FILE_HELPER = 8,
	FILTER_BUILDER = 16,
	FILTER_COUNTED = 32, /* guests whose memory a cgroup counts */
	FILTER_SHARING = 64, /* guests who have their share of the processors by a cgroup */
	FILTER_GUEST = FILTER_PYTHON | FILTER_NODE | FILTER_SHELL,
	FILTER_ALL =
	    FILTER_GUEST | FILTER_FILE_HELPER | FILTER_BUILDER | FILTER_COUNTED | FILTER_SHARING,
};

struct filter {
	struct sock_filter code[BPF_MAXINSNS];
	uint16_t size;
};

int filter_make(struct filter *, unsigned who, struct err *);
/* For this process and all that come from it; no_new_privs is set. */
int filter_load(const struct filter *, struct err *);
