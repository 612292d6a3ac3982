import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code/index.ts'
import { codex } from './codex/index.ts'
import { copilotCli } from './copilot-cli/index.ts'
import { cursor } from './cursor/index.ts'
import { geminiCli } from './gemini-cli/index.ts'
import { opencode } from './opencode/index.ts'
import { pi } from './pi/index.ts'
import { qwenCode } from './qwen-code/index.ts'

/** The agents whose sessions are uploaded. A file that several agents recognise belongs to the first of them. */
export const agents: readonly Agent[] = [codex, pi, copilotCli, geminiCli, qwenCode, opencode, cursor, claudeCode]
