/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol.h - what the executor and a language's driver say to each other over descriptor 3 of a
 * guest.
 *
 * A frame is: kind (1 byte), size (4 bytes, little endian), payload.  The driver runs in the same
 * process as the guest's program and so is as hostile as that: whatever it sends is a claim about
 * the guest and no more.
 *
 * A driver that is ready says so and waits.  CODE is a program: it runs, what is to be told of it
 * is told, and the process ends as the language's interpreter would end it.  STATEMENT is one of
 * many: what it defines stays, DONE is the last word on it, and the driver waits for the next;
 * SIGINT interrupts it and leaves the state as it is.  A driver may say DONE of a program too, when
 * nothing is left but to exit: it is killed then.  A runtime without a driver (a row of the
 * settings) gets CODE only.
 */
#pragma once

enum guest_frame {
	/* executor to driver */
	GUEST_CODE = 'C',      /* UTF-8; run it and end */
	GUEST_STATEMENT = 'S', /* UTF-8; run it and say DONE */
	GUEST_PROFILE = 'P', /* for the CODE or STATEMENT that follows: what allows no other modules
	                        (a phrase), then names of modules, each with a line feed; absent:
	                        all may be imported */
	GUEST_FILES = 'F',   /* empty: for the CODE or STATEMENT that follows the workspace may hold
	                        files, and so modules; to forks of a zygote */
	GUEST_WANTED = 'W',  /* empty: somebody waits already, so nothing is to be prepared that can
	                        be done without; to forks of a zygote */
	GUEST_BRIDGE = 'B',  /* key, line feed, JSON text: for the program's `bridge` */
	/* driver to executor */
	GUEST_IDLE =
	    'I', /* empty: it waits for code; again before that, when it has prepared more */
	GUEST_RESULT = 'R', /* JSON text of the result, at most 1 MiB */
	GUEST_VARIABLES =
	    'V', /* names, each with a line feed behind it, at most 64 KiB; absent: none */
	GUEST_ERROR = 'E',      /* type, line feed, line number, line feed, text; at most 64 KiB */
	GUEST_UNREADABLE = 'U', /* the same, in place of ERROR: of code that is not the language's,
	                           and of which nothing ran */
	GUEST_RICH = 'M',       /* MIME type, line feed, bytes; at most 4 MiB, 8 of them a run */
	GUEST_DONE = 'D', /* exit status in decimals, 0: it went well; the statement is over, its
	                     output written */
};

enum {
	GUEST_CONTROL_FD = 3,
	GUEST_HEAD = 5, /* bytes of a frame before its payload */
	GUEST_MAX_RESULT = 1 << 20,
	GUEST_MAX_FRAME = 64 << 10,
	GUEST_MAX_RICH = 4 << 20,
	GUEST_MAX_RICHES = 8,
};
