/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - `cloister up`, `status` and `down`: requests to the supervisor. */
#pragma once

int status_up(int argc, char **argv);
int status_show(int argc, char **argv);
int status_down(int argc, char **argv);
