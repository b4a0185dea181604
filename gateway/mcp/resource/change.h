/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - what a call changed, as far as its reply tells. */
#pragma once

#include "gateway/transport/client.h"

#include "common/table/schema.h"

/* Tells those who listen; named: the request named a session.  *reply is messages[tool].reply. */
void change_of_reply(const struct account *, enum msg_id tool, const void *reply, bool named);
/* A call was made, whatever came of it. */
void change_of_call(const struct account *, enum msg_id tool);
