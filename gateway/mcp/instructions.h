/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.h - the server's instructions, which a model reads before it calls anything.
 *
 * Clients cut them at 2 KB, and every conversation pays for them.  They name no tool, because the
 * operator chooses which tools are offered.  They say what the description of a single tool
 * cannot, and what models have been observed to get wrong.  The toolset of a replaced system has
 * other rules, so it has a text of its own: INSTRUCTIONS_<system>.
 */
#pragma once

/* clang-format off */
#define INSTRUCTIONS \
	"Runs programs in kernel-isolated boxes: a read-only system, no host files, and no network " \
	"unless a call names domains that the operator or a person allows. Pass data in the code " \
	"or as files. Missing packages can be installed for a run or a session, if the operator " \
	"allows it.\n" \
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

#define INSTRUCTIONS_mcp_code_sandbox \
	"Runs Python in kernel-isolated boxes without network. Each call is a new interpreter: files in " \
	"/mnt/data stay in the session, variables and imports do not. A call without session_id makes a " \
	"session and returns its id; pass that to later calls. Nothing can be downloaded: use the " \
	"installed modules, and upload data as files. Figures must be saved to /mnt/data."

#define INSTRUCTIONS_mcp_secure_sandbox \
	"Checks Python against strict rules and runs it in a kernel-isolated box without network. The " \
	"files of your workspace stay between calls; each call is a new interpreter, so variables do " \
	"not. A snapshot saves the files; restoring one replaces them. A program that breaks a rule does " \
	"not run, and the error names the rule and the line."

#define INSTRUCTIONS_python_sandbox \
	"Runs Python in kernel-isolated boxes without network. Each call is a new box: no variable and " \
	"no file stays, and there are no sessions. Assign a value to `result`, or end the program in an " \
	"expression, to get it back. get_sandbox_info lists the modules that may be imported. Nothing can be downloaded: use the installed modules, and put data " \
	"into the code."

#define INSTRUCTIONS_sandboxmcp \
	"Runs Python, Node.js and shell in kernel-isolated boxes: a read-only system, no host files, and " \
	"no network but to the allowed_domains of a call that the operator or a person allows; " \
	"metadata.network of a result names those that are not. With a session_id, variables and files " \
	"in /workspace stay between calls; without one, nothing does. Files written to " \
	"$SANDBOX_OUTPUT_DIR are returned. Packages can be installed " \
	"for one session, if the operator allows it."
/* clang-format on */
