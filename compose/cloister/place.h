/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where a user's supervisor is found, and what it was told: the settings of `cloister`.
 */
#pragma once

#include "common/base/err.h"
#include "common/table/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	char *run, *state, *config, *log_level;
#define SETTING(name, kind, ...) C_##kind name;
#include "compose/cloister/options.def"
};

extern struct place place;

/* From the environment and the flags; exits as settings_load() does. */
void place_load(const char *summary, int argc, char **argv);
/*
 * The same of a line whose other flags are somebody else's: argv keeps those, and those that both
 * know (run, state, config, log_level).  The new argc.
 */
int place_split(const char *summary, int argc, char **argv);

/* What a process started from here is told, as flags of malloc: a supervisor everything, a daemon
 * what it knows too.  How many. */
enum { PLACE_FLAGS = 8 };
size_t place_flags(bool daemon, const char *argv[PLACE_FLAGS]);

/* The folder of endpoints, made if need be, of this user and no other; the caller's. */
int place_open_run(struct err *);
/* The folder of state, likewise. */
int place_open_state(struct err *);

/* <run>/supervisor.sock and the like; -1 with *e where it is too long for a socket. */
enum { PLACE_SOCKET = 108 };
int place_socket(const char *name, char path[PLACE_SOCKET], struct err *);

/* Of cloister-<name>: beside this program, or where cmake --install puts it. */
enum { PLACE_PATH = 4096 };
int place_program(const char *name, char path[PLACE_PATH], struct err *);
/* Of this one. */
int place_self(char path[PLACE_PATH], struct err *);
