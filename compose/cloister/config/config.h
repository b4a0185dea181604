/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - `cloister config`: prints or writes a client's entry for this server. */
#pragma once

int config_run(int argc, char **argv);
/* Removes the entry of this server from the user's file of every client that has one, and says so.
 * 1: one stays, which is named. */
int config_remove_all(void);
