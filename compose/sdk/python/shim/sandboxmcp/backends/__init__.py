# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its ProcessBackend."""


