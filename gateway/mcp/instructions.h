/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.h - the server's instructions, which a model reads before it calls anything.
 *
 * Clients cut them at 2 KB, and every conversation pays for them.  They name no tool, because the
 * operator chooses which tools are offered.  They say what the description of a single tool
 * cannot, and what models have been observed to get wrong.
 */
#pragma once

/* clang-format off */
#define INSTRUCTIONS \
	"Runs programs in kernel-isolated boxes: no network, a read-only system, no host files. " \
	"Nothing can be downloaded or installed: pass data in the code or as files, and use the " \
	"installed modules.\n" \
	"- Code without session_id runs in a fresh box and leaves nothing behind. For work in " \
	"steps, create a session, or upload a file, which also returns a session_id. Pass that " \
	"session_id to every later call: variables, imports and the files in /workspace stay. " \
	"File and snapshot tools without session_id use your default session; code does not. " \
	"After 30 minutes without use a session ends, and its files are deleted.\n" \
	"- Assign a value to `result`, or end the program in an expression, and the value is " \
	"returned whole and typed: prefer that to printing. Open figures, new pictures and " \
	"tables are returned as such, other new files as artifacts.\n" \
	"- Compute in the program and return the answer, not the data. The middle of long " \
	"output is left out, with a note where to read the whole. Write large results to a file " \
	"and return only the part that matters.\n" \
	"- A call is normally limited to 30 seconds, 512 MB of memory, one core, 512 processes " \
	"and 256 MB of files; request more if the work needs it. After a timeout most variables " \
	"of a session remain; `notes` lists what was lost.\n" \
	"- When a call fails, its text has error.code, what happened, and a hint at what to do " \
	"next. Follow the hint. If there is a retry_ms, wait that long first. A `denied` call " \
	"stays denied.\n" \
	"- `isolation` in a result lists the layers that isolated that program, and under " \
	"`missing` those that this host lacks."
/* clang-format on */
