# SPDX-License-Identifier: Apache-2.0
"""oldest_schema.py DIRECTORY: makes the JSON schema of MCP 2024-11-05 from the types of the official package of that time.

No package contains the schema of that revision.  Needs a Python with pydantic.
"""

import importlib.util
import inspect
import json
import sys

import pydantic

spec = importlib.util.spec_from_file_location("types_of_mcp", sys.argv[1] + "/mcp/types.py")
types = importlib.util.module_from_spec(spec)
sys.modules["types_of_mcp"] = types
spec.loader.exec_module(types)
assert types.LATEST_PROTOCOL_VERSION == "2024-11-05", types.LATEST_PROTOCOL_VERSION

models = [one for _, one in inspect.getmembers(types, inspect.isclass)
          if issubclass(one, pydantic.BaseModel) and one.__module__ == "types_of_mcp" and not one.__pydantic_generic_metadata__["parameters"]]
_, schema = pydantic.json_schema.models_json_schema([(one, "validation") for one in models], by_alias=True)
json.dump(schema, sys.stdout)
