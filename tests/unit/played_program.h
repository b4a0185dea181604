/* SPDX-License-Identifier: Apache-2.0 */
/* played_program.h - a program in a box of the played builder: what its driver and the builder say,
 * and what was told of its runs. */
#pragma once

#include "executor/guest/protocol.h"
#include "executor/sandbox/box.h"
#include "played_builder.h"

struct played_program {
	struct box_end end; /* of the last run; its texts are gone */
	unsigned runs, programs, boxes;
};

extern struct played_program seen;
extern struct program *program;
extern int last_count, last_processes; /* what counts processor time, and processes; or -1 */

/* The builder. */
void say_used(void);
void say_counted(uint32_t processes);
void close_output(void);
void say_closed(void);
void say_program_ended(int status);
void say_box(enum answer_kind kind, uint64_t cpu_us);

/* The program. */
void turn(void);
void wait_ms(int ms);
void say(enum guest_frame kind, const char *text);
void run_statement(uint64_t wall_ms);

/* Tests' beginnings and ends; begin() is a statement under way. */
void make_of(const struct program_spec *spec);
void make(bool alone);
int begin(void **state);
void begin_counted(bool alone, const char *processes, const char *cpu_us);
int end(void **state);
