/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - follows the chain of a log, without the daemon. */
#pragma once

/* What it comes to, and the exit status. */
enum verify_verdict {
	VERDICT_WHOLE,
	VERDICT_DAMAGED, /* or the log could not be read */
	VERDICT_USAGE,
	VERDICT_TRUNCATED,     /* the checkpoint says more records than there are */
	VERDICT_REWRITTEN,     /* the record that the checkpoint ends with is another one */
	VERDICT_OTHER_KEY,     /* signed the checkpoint */
	VERDICT_BAD_SIGNATURE, /* or it is no checkpoint */
};

/*
 * --verify FILE [--since=CHECKPOINT] [--key=KEY]; argv[0] is the flag.  Prints the count and the
 * hash at the head, and with a checkpoint (the text, or @ and the name of a file) whether the log
 * still holds it.  KEY: as --public-key prints it; otherwise the file audit.pub beside the log.
 */
int verify_main(int argc, char **argv);
