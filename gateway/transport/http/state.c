/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - the process's one HTTP server. */
#include "gateway/transport/http/state.h"

struct web_counts web_counts;
struct web_state web_state;
