/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - `cloister config`: tells a client of this server. */
#pragma once

int config_run(int argc, char **argv);
