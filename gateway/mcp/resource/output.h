/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - the texts that results left out, as resources. */
#pragma once

#include "gateway/mcp/method.h"

/* Handles resources/read of such a text; variables: output_id, name and optionally offset. */
json_t *output_read(const struct request *, const json_t *variables);
