/* SPDX-License-Identifier: Apache-2.0 */
/* code_file.h - receives the code of a program whose runtime has no driver. */
#pragma once

/* Reports that it is idle, waits for a CODE frame on the control channel, writes the code to a
 * file in /tmp with that extension, and closes the channel.  Returns the file's path, or NULL
 * with errno if no code was received. */
const char *code_file_await(const char *extension);
