/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h - `cloister policy`: the file of policies, as the daemons read it. */
#pragma once

/* All return the exit code of the command. */
int policy_on_check(int argc, char **argv);
int policy_on_show(int argc, char **argv);
int policy_on_explain(int argc, char **argv);
