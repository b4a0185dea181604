/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the gateway's settings; see options.def. */
#pragma once

#include "gateway/mcp/instructions.h"

#define OPTIONS "gateway/options.def"
#include "common/table/options.h"
