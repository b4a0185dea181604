/* SPDX-License-Identifier: Apache-2.0 */
/* session_record.h - converts a session to a record, and back. */
#pragma once

#include "common/base/err.h"

#include <stdint.h>

struct record;
struct session;

/* Call when its workspace exists.  A session without a record is lost at a restart. */
void session_record_write(struct session *, uint32_t workspace);
/* A session that is in no table yet and owns the record; NULL with *e: it cannot be resumed. */
struct session *session_record_read(struct record *, struct err *);
