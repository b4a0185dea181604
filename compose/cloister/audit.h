/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h - `cloister audit`: the caller's own records, or with --all those of all principals. */
#pragma once

int audit_show(int argc, char **argv);
