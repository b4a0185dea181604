/* SPDX-License-Identifier: Apache-2.0 */
/* code_file.h - a program for a runtime that has no driver. */
#pragma once

/* Says that it is idle, waits for a CODE frame on the control channel, puts it into a file of /tmp
 * with that extension, and closes the channel.  Its path; NULL with errno if there is none. */
const char *code_file_await(const char *extension);
