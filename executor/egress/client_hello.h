/* SPDX-License-Identifier: Apache-2.0 */
/* client_hello.h - the name of a server in a client's first bytes. */
#pragma once

#include "common/base/domain.h"

enum hello_name {
	HELLO_MORE,  /* not enough bytes yet */
	HELLO_NAMED, /* *name has it */
	HELLO_NONE,  /* it has no name, or is not what this port expects */
};

enum {
	HELLO_BYTES = 16384,
};

/* Of a TLS ClientHello: server_name. */
enum hello_name client_hello_of_tls(const unsigned char *, size_t, char name[DOMAIN_NAME]);
/* Of an HTTP/1 request: Host, without its port. */
enum hello_name client_hello_of_http(const char *, size_t, char name[DOMAIN_NAME]);
