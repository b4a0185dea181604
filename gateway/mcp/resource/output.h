/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - texts that results left out, as resources. */
#pragma once

#include "gateway/mcp/method.h"

/* resources/read of one; variables: output_id, name and maybe offset. */
json_t *output_read(const struct request *, const json_t *variables);
