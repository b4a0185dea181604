/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_frame.h - the protocol between the executor and a file helper for the files of a workspace.
 *
 * A file frame is one packet: a header, then path_size bytes of path, then tail_size bytes of file
 * content or of a link's target.  Paths are raw bytes without a zero byte, relative to the
 * workspace.  Both sides run on one machine, so numbers have the machine's byte order.
 *
 * The file helper has handled what a hostile program left: the executor checks everything it
 * sends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_frame_kind {
	/* Orders.  Each is answered by DONE.  Those marked * are answered only if they fail. */
	FILE_FRAME_LIST = 1, /* at most limit names; files of at most size bytes are hashed */
	FILE_FRAME_READ,  /* path: DATA of a file from offset on; limit bytes, or 0: all, up to size
	                   */
	FILE_FRAME_TYPE,  /* path: DATA with the media type of a regular file */
	FILE_FRAME_WRITE, /* path; size bytes of content follow as DATA; overwrite, mode */
	FILE_FRAME_APPEND,    /* path of a file of offset bytes; size more follow as DATA */
	FILE_FRAME_FILE,      /* the same while a workspace is being filled, with mtime_ns */
	FILE_FRAME_MKDIR,     /* path */
	FILE_FRAME_LINK,      /* * path, tail: its target; mtime_ns */
	FILE_FRAME_HARD_LINK, /* * path, tail: path of the file that it is another name of */
	FILE_FRAME_STAMP,     /* * path of a directory that is complete; mode, mtime_ns */
	FILE_FRAME_SYNC,      /* asks whether all of this is done */
	/* Both directions */
	FILE_FRAME_DATA, /* tail: the next bytes of a file */
	/* Replies */
	FILE_FRAME_ENTRY, /* path, type, mode, mtime_ns; size, inode, digest if hashed; tail: target
	                   */
	FILE_FRAME_SKIPPED, /* path, fault: why there is no entry for it; type if IS_SPECIAL */
	FILE_FRAME_DONE, /* fault; truncated: there are more than limit names; size of the file */
	FILE_FRAME_KINDS
};

enum file_frame_type {
	FILE_FRAME_REGULAR,
	FILE_FRAME_DIRECTORY,
	FILE_FRAME_SYMLINK,
	FILE_FRAME_FIFO, /* this and the following have no ENTRY: they are SKIPPED */
	FILE_FRAME_SOCKET,
	FILE_FRAME_DEVICE,
	FILE_FRAME_TYPES
};

/* Reasons for a failure.  A file helper sends no text: the executor has a text for each reason. */
enum file_frame_fault {
	FILE_FRAME_OK,
	FILE_FRAME_ABSENT,        /* no such name */
	FILE_FRAME_IS_LINK,       /* a symbolic link, there or on the way to it */
	FILE_FRAME_IS_DIRECTORY,  /* where a file is expected */
	FILE_FRAME_IS_SPECIAL,    /* FIFO, socket or device */
	FILE_FRAME_NOT_DIRECTORY, /* a component of its path is a file */
	FILE_FRAME_EXISTS,        /* exists, and overwriting is not allowed */
	FILE_FRAME_TOO_LARGE,     /* more bytes than requested */
	FILE_FRAME_TOO_LONG,      /* its path, or a name in it, is too long */
	FILE_FRAME_NO_ROOM,       /* the workspace has no bytes or files left */
	FILE_FRAME_NO_ACCESS,     /* the program that made it removed the permissions */
	FILE_FRAME_MISPLACED,     /* the file has size bytes, not offset bytes */
	FILE_FRAME_FAILED,        /* anything else */
	FILE_FRAME_FAULTS
};

struct file_frame_head {
	uint32_t kind, path_size, tail_size;
	uint32_t type, mode, fault;
	uint32_t overwrite, hashed, truncated; /* 0 or 1 */
	uint32_t attributed;                   /* 0 or 1: an ENTRY has extended attributes */
	uint64_t size, limit, offset;
	uint64_t inode; /* of a file with several names; 0: of any other */
	int64_t mtime_ns;
	uint8_t digest[32];
};

enum {
	FILE_FRAME_MAX_PATH = 4096, /* of a path or target, with the zero byte, which is not sent */
	FILE_FRAME_MAX_REST = (64 << 10) - sizeof(struct file_frame_head),
};

struct file_frame {
	struct file_frame_head head;
	uint8_t rest[FILE_FRAME_MAX_REST];
};

/* Puts path and tail behind the header.  False if they are too long.  A tail that is already in
 * its place is not moved. */
bool file_frame_pack(struct file_frame *, const char *path, const void *tail, size_t size);
/* The position of the tail. */
uint8_t *file_frame_tail(struct file_frame *);
/* Copies the path and appends a zero byte. */
void file_frame_path(const struct file_frame *, char path[FILE_FRAME_MAX_PATH]);

/* Sends one whole file frame: 1, or -1 with errno. */
int file_frame_send(int fd, const struct file_frame *);
/* 1; 0 at the end of the channel; -1 with errno.  EBADMSG: a frame with an invalid size, path,
 * kind or enumerated number. */
int file_frame_receive(int fd, struct file_frame *);
