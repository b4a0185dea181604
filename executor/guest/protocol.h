/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol.h - what the executor and a language's driver say to each other over descriptor 3 of a
 * guest.
 *
 * A frame is: kind (1 byte), size (4 bytes, little endian), payload.  The driver runs in the same
 * process as the guest's program and so is as hostile as that: whatever it sends is a claim about
 * the guest and no more.
 */
#pragma once

enum guest_frame {
	/* executor to driver */
	GUEST_CODE = 'C', /* the program, UTF-8; run it */
	/* driver to executor */
	GUEST_RESULT = 'R',    /* JSON text of the result, at most 1 MiB */
	GUEST_VARIABLES = 'V', /* names, each with a line feed behind it, at most 64 KiB */
	GUEST_ERROR = 'E',     /* type, line feed, line number, line feed, text; at most 64 KiB */
};

enum {
	GUEST_CONTROL_FD = 3,
	GUEST_MAX_RESULT = 1 << 20,
	GUEST_MAX_FRAME = 64 << 10,
};
