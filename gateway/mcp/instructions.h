/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.h - the server's instructions, which a model reads before it calls anything.
 *
 * Clients cut them at 2 KB, and every conversation pays for them.  They name no tool, because the
 * operator chooses the tools that are offered.  They say what the description of a single tool
 * cannot, and what models have been seen to get wrong.
 */
#pragma once

/* clang-format off */
#define INSTRUCTIONS \
	"Runs programs in kernel-isolated boxes: no network, a read-only system, nothing of the host " \
	"visible. Nothing can be downloaded or installed: bring data in the code or as files, and use " \
	"the modules that are there.\n" \
	"- Code without session_id runs in a fresh box, of which nothing stays. For work in steps make " \
	"a session, or upload a file, which gives you a session_id too, and pass that session_id to " \
	"every later call: variables, imports and the files in /workspace stay. File and snapshot tools " \
	"that get no session_id use your default session; code does not. A session ends when it was " \
	"not used for 30 minutes, and its files with it.\n" \
	"- A value comes back whole and typed when the program assigns it to `result` or ends in an " \
	"expression: prefer that to printing. Open figures, new pictures and tables come back as " \
	"such, other new files as artifacts.\n" \
	"- Compute in the program and return the answer, not the data. Long output is cut in the " \
	"middle, and says where the whole can be read: better write large results to a file and return " \
	"the part that matters.\n" \
	"- Usual limits of a call are 30 seconds, 512 MB of memory, one core, 64 processes and 256 MB " \
	"of files; ask for others where the work needs them. After a timeout a session's variables are " \
	"mostly still there; `notes` say what was lost.\n" \
	"- When a call fails, its text has error.code, what happened, and a hint at what to do next. " \
	"Follow the hint; with retry_ms wait that long first. What is `denied` stays denied.\n" \
	"- `isolation` in a result lists the layers that held that very program, and under `missing` " \
	"those that this host could not give."
/* clang-format on */
