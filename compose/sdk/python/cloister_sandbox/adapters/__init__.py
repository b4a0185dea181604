# SPDX-License-Identifier: Apache-2.0
"""A tool `run_code` for agents of other frameworks: one module for each, which imports its framework.

    from cloister_sandbox.adapters.langchain import run_code

    with Sandbox() as sandbox, sandbox.session() as session:
        agent = create_agent(model, tools=[run_code(session)])
"""
