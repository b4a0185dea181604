/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - GET /files/<session>/<path>?t=<seal>: a file of a workspace, or a range of it. */
#pragma once

#include "gateway/transport/http/request.h"

void files_get(struct http_request *);
