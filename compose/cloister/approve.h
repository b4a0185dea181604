/* SPDX-License-Identifier: Apache-2.0 */
/* approve.h - `cloister egress`: the answers of a person at a terminal. */
#pragma once

int approve_run(int argc, char **argv);
