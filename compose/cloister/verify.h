/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - the command `cloister verify`. */
#pragma once

/* 0: the file matches the signed artifact; 1: it does not, or that cannot be verified; 2: wrong
 * arguments. */
int verify_file(int argc, char **argv);
