/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - GET /files/<session>/<path>?t=<seal>: the bytes of a workspace's file, or a range. */
#pragma once

#include "gateway/transport/http/request.h"

void files_get(struct http_request *);
