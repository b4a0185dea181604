/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - follows the chain of a log, without the daemon. */
#pragma once

/* Prints the count and the hash at its head; 0: whole; 1: damaged, or it could not be read. */
int verify_file(const char *path);
