// SPDX-License-Identifier: Apache-2.0
import type { Tool } from "ai";
import type { RunOptions, Session } from "cloister-sandbox";

/** For the model, and JSON: data is base64. */
export interface Answer {
	text: string;
	images: { mediaType: string; data: string }[];
}

export interface ToolOptions extends Omit<RunOptions, "session" | "signal"> {
	/** Characters of text for the model; the middle of a longer one is left out.  Default 20,000. */
	most?: number;
}

/** A tool for generateText(), streamText() and agents, which runs programs in this session.  An aborted call is cancelled at the server. */
export function runCode(session: Session, options?: ToolOptions): Tool<{ code: string }, Answer>;
