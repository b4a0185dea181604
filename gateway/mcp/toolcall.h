/* SPDX-License-Identifier: Apache-2.0 */
/* toolcall.h - the tools of schema.def, as a provider. */
#pragma once

#include "gateway/mcp/provider.h"

extern const struct provider toolcall_provider;
