/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slip.h - what the executor and a file helper say to each other about the files of a workspace.
 *
 * A slip is one packet: a head, then path_size bytes of a path, then tail_size bytes of content
 * or of a link's target.  Paths are real bytes without a zero byte, relative to the workspace.
 * Both sides are on one machine, so numbers are as the machine has them.
 *
 * The file helper has touched what a hostile program left: the executor checks whatever it says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slip_kind {
	/* Orders.  Each is answered by DONE, but those marked * only if they fail. */
	SLIP_LIST = 1, /* at most limit names; files of at most size bytes are hashed */
	SLIP_READ,     /* path: DATA of a file from offset on; limit bytes, or 0: all, up to size */
	SLIP_TYPE,     /* path: DATA with the media type of a regular file */
	SLIP_WRITE,    /* path; size bytes of content follow as DATA; overwrite, mode */
	SLIP_APPEND,   /* path of a file of offset bytes; size more follow as DATA */
	SLIP_FILE,     /* * the same while a workspace is filled, with mtime_ns */
	SLIP_MKDIR,    /* * path */
	SLIP_LINK,     /* * path, tail: its target; mtime_ns */
	SLIP_STAMP,    /* * path of a folder that is complete; mode, mtime_ns */
	SLIP_SYNC,     /* is all of this done? */
	/* Both ways */
	SLIP_DATA, /* tail: the next bytes of a file */
	/* Answers */
	SLIP_ENTRY,   /* path, type, mode, mtime_ns; size, digest if hashed; tail: target */
	SLIP_SKIPPED, /* path, fault: why it is no entry */
	SLIP_DONE,    /* fault; truncated: there are more than limit names; size of the file */
	SLIP_KINDS
};

enum slip_type { SLIP_REGULAR, SLIP_DIRECTORY, SLIP_SYMLINK, SLIP_TYPES };

/* Why not.  A file helper sends no text: the executor has one for each. */
enum slip_fault {
	SLIP_OK,
	SLIP_ABSENT,     /* no such name */
	SLIP_IS_LINK,    /* a symbolic link, there or on the way */
	SLIP_IS_FOLDER,  /* where a file is meant */
	SLIP_IS_SPECIAL, /* FIFO, socket or device */
	SLIP_NOT_FOLDER, /* a file on the way to it */
	SLIP_EXISTS,     /* and is not to be overwritten */
	SLIP_TOO_LARGE,  /* more bytes than asked for */
	SLIP_TOO_LONG,   /* its path, or a name in it */
	SLIP_NO_ROOM,    /* bytes or files of the workspace are used up */
	SLIP_NO_ACCESS,  /* the program that made it took the permissions away */
	SLIP_MISPLACED,  /* the file does not have offset bytes, but size */
	SLIP_FAILED,     /* anything else */
	SLIP_FAULTS
};

struct slip_head {
	uint32_t kind, path_size, tail_size;
	uint32_t type, mode, fault;
	uint32_t overwrite, hashed, truncated; /* 0 or 1 */
	uint32_t unused;
	uint64_t size, limit, offset;
	int64_t mtime_ns;
	uint8_t digest[32];
};

enum {
	SLIP_MAX_PATH = 4096, /* of a path or target, with the zero byte it does not carry */
	SLIP_MAX_REST = (64 << 10) - sizeof(struct slip_head),
};

struct slip {
	struct slip_head head;
	uint8_t rest[SLIP_MAX_REST];
};

/* Puts path and tail behind the head; false if they are too long.  A tail that already is in its
 * place is not moved. */
bool slip_pack(struct slip *, const char *path, const void *tail, size_t size);
/* Where the tail is. */
uint8_t *slip_tail(struct slip *);
/* A copy of the path, with a zero byte behind it. */
void slip_path(const struct slip *, char path[SLIP_MAX_PATH]);

/* One whole slip: 1, or -1 with errno. */
int slip_send(int fd, const struct slip *);
/* 1; 0 at the end of the channel; -1 with errno: EBADMSG for one whose sizes, path, kind or numbers
 * with few values are not what they may be. */
int slip_receive(int fd, struct slip *);
