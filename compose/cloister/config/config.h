/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - `cloister config`: prints or writes a client's entry for this server. */
#pragma once

int config_run(int argc, char **argv);
