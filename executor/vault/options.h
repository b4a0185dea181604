/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the vault's settings: options.def as a struct and as the table that fills it. */
#pragma once

#define OPTIONS "executor/vault/options.def"
#include "common/table/options.h"
