/* SPDX-License-Identifier: Apache-2.0 */
/* install.h - installs packages from the operator's index into a session. */
#pragma once

#include "common/bus/bus.h"

int install_on_install_package(struct call *, void *request, struct err *);
