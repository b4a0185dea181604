/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the settings of `cloister`, and the location of a user's supervisor.
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
 * The same for a command line with flags of another program: argv keeps those, and those that both
 * have (run, state, config, log_level). Returns the new argc.
 */
int place_split(const char *summary, int argc, char **argv);

/* The flags for a child process, from malloc: all settings for a supervisor, the common ones for a
 * daemon. Returns their number. */
enum { PLACE_FLAGS = 8 };
size_t place_flags(bool daemon, const char *argv[PLACE_FLAGS]);

/* Opens the directory of endpoints; creates it if missing. It must belong to this user alone. The
 * caller owns the descriptor. */
int place_open_run(struct err *);
/* Opens the state directory, likewise. */
int place_open_state(struct err *);

/* The path <run>/<name>, such as supervisor.sock; -1 with *e if it is too long for a socket. */
enum { PLACE_SOCKET = 108 };
int place_socket(const char *name, char path[PLACE_SOCKET], struct err *);

/* The path of a program: in the directory of this program, or where cmake --install puts it.
 */
enum { PLACE_PATH = 4096 };
int place_program(const char *name, char path[PLACE_PATH], struct err *);
/* The path of this program. */
int place_self(char path[PLACE_PATH], struct err *);
