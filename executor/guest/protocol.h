/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol.h - the protocol between the executor and a language's driver, over descriptor 3 of a
 * guest.
 *
 * A frame is: kind (1 byte), size (4 bytes, little endian), payload.  The driver runs in the same
 * process as the guest's program and is therefore as hostile as the program.  Everything it sends
 * is only a claim about the guest.
 *
 * A driver that is ready sends IDLE and waits.  CODE is a program: it runs, its results are sent,
 * and the process ends as the language's interpreter would end it.  STATEMENT is one of many: its
 * definitions persist, DONE is the last frame for it, and the driver waits for the next.  SIGINT
 * interrupts a statement and leaves the state unchanged.  A driver may also send DONE for a
 * program when nothing is left but to exit: the program is then killed.  A runtime without a
 * driver (a row of the settings) gets CODE only.
 */
#pragma once

enum guest_frame {
	/* executor to driver */
	GUEST_CODE = 'C',      /* UTF-8; run it, then end */
	GUEST_STATEMENT = 'S', /* UTF-8; run it, then send DONE */
	GUEST_PROFILE = 'P',   /* for the next CODE or STATEMENT: what allows no other modules (a
	                          phrase), then names of modules, then "-module.name" of members
	                          that may not be used and "=module.name" of members of
	                          a module that has no others, each followed by a line
	                          feed; Node reads the phrase.  Absent: all modules may be imported */
	GUEST_FILES = 'F', /* empty: for the next CODE or STATEMENT the workspace may contain files,
	                      and therefore modules; to forks of a zygote */
	GUEST_PACKAGES = 'K', /* empty: packages were mounted since the last CODE or STATEMENT;
	                         only to the driver of Python */
	GUEST_MANNERS = 'A',  /* digits: a sum of enum guest_manner, for the next CODE or
	                         STATEMENT; only to the driver of Python */
	GUEST_WANTED = 'W',   /* empty: a caller is already waiting, so the driver skips optional
	                         preparation; to forks of a zygote */
	GUEST_SECRET = 'N',   /* name, line feed, value: a variable of the environment for the next
	                         CODE  or STATEMENT only */
	GUEST_ARGUMENT =
	    'G',           /* one argument of the command line; in their order, for the next CODE */
	GUEST_INPUT = 'T', /* bytes: standard input of the next CODE */
	GUEST_BRIDGE = 'B', /* key, line feed, JSON text: for the program's `bridge` */
	/* driver to executor */
	GUEST_IDLE =
	    'I', /* empty: it waits for code; sent again before that, when it has prepared more */
	GUEST_RESULT = 'R', /* JSON text of the result, at most 1 MiB */
	GUEST_VARIABLES =
	    'V',           /* names, each followed by a line feed, at most 64 KiB; absent: none */
	GUEST_ERROR = 'E', /* type, line feed, line number, line feed, text; at most 64 KiB */
	GUEST_UNREADABLE = 'U', /* the same, instead of ERROR: the code is not valid in the
	                           language, and nothing of it ran */
	GUEST_RICH = 'M',       /* MIME type, line feed, bytes; at most 4 MiB, at most 8 per run */
	GUEST_DONE = 'D',       /* exit status in decimal, 0: success; the statement is over and its
	                           output is written */
	GUEST_LEFT = 'L', /* empty: of a container's pid 1, other processes did not end with the
	                     program; of Node, timers or sockets are open behind a statement */
};

/* What the replaced systems do with code, and a plain interpreter does not. */
enum guest_manner {
	GUEST_ECHO_EACH = 1, /* print each expression that stands alone in a line and is no call */
	GUEST_ECHO_LAST = 2, /* write the value of the last expression, as repr() */
	GUEST_FENCE = 4,     /* open() of a file outside of the workspace raises PermissionError */
	GUEST_TYPED = 8,     /* it is TypeScript; the package amaro is installed */
};

enum {
	GUEST_CONTROL_FD = 3,
	GUEST_HEAD = 5, /* bytes of a frame before its payload */
	GUEST_MAX_RESULT = 1 << 20,
	GUEST_MAX_FRAME = 64 << 10,
	GUEST_MAX_RICH = 4 << 20,
	GUEST_MAX_RICHES = 8,
};
