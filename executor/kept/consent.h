/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consent.h - the replay cache: which consents of users were used, of all gateways.
 *
 * A consent travels sealed with the client, and any gateway that shares the key can open it; here
 * it is used once.  Each owner has a bounded list, of which nothing is forgotten before it has
 * expired: where the list is full the use that would expire first goes, and with it every consent
 * of that owner that expires no later, used or not.  So an owner that floods its list makes only
 * its own open questions void, and brings none back.  A consent from before the executor's start
 * is not used at all.
 */
#pragma once

#include "common/bus/bus.h"

enum {
	CONSENT_USES = 128,   /* of one owner, that have not expired */
	CONSENT_OWNERS = 1024 /* that have any */
};

/* In start(). */
void consent_open(void);
/* invalid_argument: it was used before; queue_full: nothing can be noted, and so nothing be used.
 */
int consent_on_spend_consent(struct call *, void *request, struct err *);
