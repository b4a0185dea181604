/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - `cloister events`: prints events as they happen. */
#pragma once

/* Exits as call_command() does. With --follow it runs until it is interrupted. */
int events_follow(int argc, char **argv);
