/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - `cloister environment`; the executor reads what it makes
 * (executor/environment.h). */
#pragma once

int environment_on_add(int argc, char **argv);
int environment_on_list(int argc, char **argv);
int environment_on_remove(int argc, char **argv);
