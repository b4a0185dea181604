/* SPDX-License-Identifier: Apache-2.0 */
/* vault.h - the commands `cloister vault ...`. */
#pragma once

/* Each returns the exit code. */
int vault_on_add(int argc, char **argv);
int vault_on_rotate(int argc, char **argv);
int vault_on_list(int argc, char **argv);
int vault_on_delete(int argc, char **argv);
int vault_on_rekey(int argc, char **argv);
