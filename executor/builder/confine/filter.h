/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - seccomp programs compiled from tables of system calls (guest/guest.def,
 * file_helper.def, builder.def).
 *
 * libseccomp compiles them once, when the builder starts.  A box loads the finished program.
 */
#pragma once

#include "common/base/err.h"

#include <linux/filter.h>
#include <stdint.h>

/* The processes that a table row applies to.  Values can be combined. */
enum filter_who {
	FILTER_PYTHON = 1,
	FILTER_NODE = 2,
	FILTER_SHELL = 4,
	FILTER_FILE_HELPER = 8,
	FILTER_BUILDER = 16,
	FILTER_COUNTED = 32,   /* guests whose memory is counted by a cgroup */
	FILTER_SHARING = 64,   /* guests whose share of the processors is set by a cgroup */
	FILTER_LOOPBACK = 128, /* guests that have a loopback */
	FILTER_GUEST = FILTER_PYTHON | FILTER_NODE | FILTER_SHELL,
	FILTER_ALL = FILTER_GUEST | FILTER_FILE_HELPER | FILTER_BUILDER | FILTER_COUNTED |
	             FILTER_SHARING | FILTER_LOOPBACK,
};

struct filter {
	struct sock_filter code[BPF_MAXINSNS];
	uint16_t size;
};

int filter_make(struct filter *, unsigned who, struct err *);
/* Loads the program for this process and all its descendants.  Sets no_new_privs. */
int filter_load(const struct filter *, struct err *);
