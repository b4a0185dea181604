/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one JSON object per line on stderr: time, level, daemon, text, named values.
 *
 * The log is for operators; lines may be lost. Never a program's source, output, environment or a
 * token.
 *   log_info("listening", LOG_S("endpoint", path), LOG_N("backlog", 128));
 */
#pragma once

#include <stdint.h>

enum log_level {
	LOG_debug,
	LOG_info,
	LOG_warn,
	LOG_error,
};

struct log_value {
	const char *name;
	const char *text; /* NULL: use number */
	int64_t number;
};

#define LOG_S(name, text)   ((struct log_value){ (name), (text), 0 })
#define LOG_N(name, number) ((struct log_value){ (name), NULL, (int64_t)(number) })
#define LOG_E(e)            LOG_S("error", (e)->text)

#define log_debug(...) log_line(LOG_debug, __VA_ARGS__)
#define log_info(...)  log_line(LOG_info, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_warn, __VA_ARGS__)
#define log_error(...) log_line(LOG_error, __VA_ARGS__)
#define log_line(level, message, ...) \
	log_write(level, message, (const struct log_value[]){ __VA_ARGS__ __VA_OPT__(, ){ 0 } })

/* Call before the first line. Sets the name of the daemon and the lowest level that is logged. */
void log_open(const char *daemon, enum log_level);
/* Texts are escaped and cut at 1024 bytes. One write(2) per line. A NULL name ends the values. */
void log_write(enum log_level, const char *text, const struct log_value *);
/* -1 if level is not one of debug, info, warn, error. */
int log_parse(const char *level);
