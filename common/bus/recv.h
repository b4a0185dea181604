/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recv.h - bounds what libzmq may hold of one connection.
 *
 * libzmq keeps the parts of a message until the last one arrives, and bounds neither their number
 * nor their sum. Its only call to the outside is recv(2). So the process defines recv(), which the
 * dynamic linker gives to libzmq, and recv() counts. The count is an upper bound of the memory that
 * libzmq holds for what it received since a whole message was last read. A connection that exceeds
 * its bound ends for libzmq as if its peer had closed it; libzmq then frees the unfinished message.
 *
 * At most twice the bound is held, because a message can be read when the next one is half there.
 * What a connection sends before the loop handles its monitor event is not counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The bound of a connection with a queue of so many unread messages, each of at most so many bytes
 * in so many parts. */
size_t recv_cost(size_t queue, size_t bytes, size_t parts);
/* Starts to count for that descriptor, from zero; most 0: stops. */
void recv_bound(int fd, size_t most);
/* The same without a reset of the count, for a connection that is bounded. */
void recv_widen(int fd, size_t most);
/* A whole message of that connection was read. */
void recv_heard(int fd);
/* Did it exceed its bound? */
bool recv_exceeded(int fd);
