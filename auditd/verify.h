/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - follows the chain of a log, without the daemon. */
#pragma once

/* The verdict, also the exit status. */
enum verify_verdict {
	VERDICT_WHOLE,
	VERDICT_DAMAGED, /* or unreadable */
	VERDICT_USAGE,
	VERDICT_TRUNCATED,     /* the log has fewer records than the checkpoint */
	VERDICT_REWRITTEN,     /* the checkpoint's record has another seal */
	VERDICT_OTHER_KEY,     /* another key signed the checkpoint */
	VERDICT_BAD_SIGNATURE, /* or the text is not a checkpoint */
};

/*
 * --verify FILE [--since=CHECKPOINT] [--key=KEY]; argv[0] is the flag.  Prints the number of
 * records and the last seal.  With a checkpoint (the text, or @ and a file name), prints whether
 * the log still holds it.  KEY has the form that --public-key prints; the default is the file
 * audit.pub beside the log.
 */
int verify_main(int argc, char **argv);
