/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - the command `cloister verify`. */
#pragma once

/* 0: the file is what a run left; 1: it is not, or that cannot be said; 2: wrong arguments. */
int verify_file(int argc, char **argv);
