/* SPDX-License-Identifier: Apache-2.0 */
/* session_record.h - a session as a record, and back. */
#pragma once

#include "executor/session/session.h"

/* Once its workspace is there; without a record it is a session like others until a restart. */
void session_record_write(struct session *, uint32_t workspace);
/* A session in no table, whose record it is then; NULL with *e: it cannot be one here. */
struct session *session_record_read(struct record *, struct err *);
