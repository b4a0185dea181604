/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - requests of the daemon to its keeper, and the answers, each in one message of a
 * SOCK_SEQPACKET pair.
 *
 * The keeper answers ORDER_SERVE only, in their order. ORDER_CONNECT has two descriptors: the
 * connection of the box, and the one to the server.
 */
#pragma once

#include "common/base/domain.h"

enum {
	ORDER_RUN = 64,   /* id of a run, with a zero byte */
	ORDER_NAMES = 32, /* bound names of one run */
	ORDER_PEM = 16384,
};

enum order_kind {
	ORDER_SERVE = 1,
	ORDER_CONNECT,
	ORDER_END,
};

struct order {
	enum order_kind kind;
	char run[ORDER_RUN];
	uint32_t nnames; /* ORDER_CONNECT: 1; ORDER_END: 0 */
	char names[ORDER_NAMES][DOMAIN_NAME];
};

struct order_answer {
	char run[ORDER_RUN];
	struct err why; /* ERR_none: the certificate follows */
	char certificate[ORDER_PEM];
};
