import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code/index.ts'
import { cursor } from './cursor/index.ts'
import { geminiCli } from './gemini-cli/index.ts'
import { opencode } from './opencode/index.ts'

/** The agents whose sessions are uploaded. A file that several recognise is read by the first one; the last one is the least strict. */
export const agents: readonly Agent[] = [geminiCli, opencode, cursor, claudeCode]
