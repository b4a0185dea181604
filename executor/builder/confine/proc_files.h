/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_files.h - files of a box's /proc that are about the machine: meminfo, stat, cpuinfo, uptime
 * and loadavg, with the box's limits in place of the host's numbers.
 */
#pragma once

#include "executor/builder/host.h"
#include "executor/builder/order.h"

/* The directory that has them. */
#define PROC_FILES "/run"

/* At the start of the builder, while its /proc is open: keeps what the host says of its
 * processors. */
void proc_files_open(const struct host *);
/*
 * Mounts the files, read-only, on those of a complete /proc, which must be mounted there.  They are
 * written once: a program finds a machine that has done nothing since its box was made.  The order
 * is the box's.
 */
int proc_files_mount(const struct host *, const struct order *, struct err *);
