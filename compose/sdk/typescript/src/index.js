// SPDX-License-Identifier: Apache-2.0
export { Sandbox } from "./sandbox.js";
export { Session } from "./session.js";
export { Result } from "./result.js";
export {
	Closed, ConnectionLost, ExecutionError, ProtocolError, RequestTimeout, RpcError, SandboxError, StartError, ToolError,
} from "./errors.js";
