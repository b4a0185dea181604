/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consent.h - the replay cache: which users' consents were used, through any gateway.
 *
 * A consent is stored, sealed, by the client, and every gateway that shares the key can open it.
 * The executor makes sure that it is used only once.  Each owner has a bounded list of uses.  A
 * use is not forgotten before it has expired.  If the list is full, the use that expires first is
 * removed, and every consent of that owner that expires no later becomes void, used or not.  So an
 * owner that floods its list voids only its own open questions and makes no used consent valid
 * again.  Consents from before the executor's start are refused.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	CONSENT_USES = 128,   /* uses of one owner that have not expired */
	CONSENT_OWNERS = 1024 /* owners with at least one such use */
};

/* In start(). */
void consent_open(void);
/* invalid_argument: it was used before; queue_full: the use cannot be recorded, so it is
 * refused. */
int consent_on_spend_consent(struct call *, void *request, struct err *);
