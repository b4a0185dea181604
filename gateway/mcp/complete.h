/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - completion of the arguments of prompts and templates, as a provider. */
#pragma once

#include "gateway/mcp/provider.h"

extern const struct provider complete_provider;
