/* SPDX-License-Identifier: Apache-2.0 */
/* package_tools.h - the call that installs packages. */
#pragma once

#include "common/bus/bus.h"

int package_tools_on_install_package(struct call *, void *request, struct err *);
