/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - `cloister up`, `status` and `down`: requests to the supervisor. */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

int status_up(int argc, char **argv);
/* The supervisor's reply, which the caller owns; NULL with *e. */
json_t *status_ask(struct err *);
/* Prints why there is none; returns the exit code. */
int status_complain(const struct err *);
int status_show(int argc, char **argv);
int status_down(int argc, char **argv);
