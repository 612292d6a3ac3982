import { visibleLine } from './visible.ts'

/** The names of the agents of `tracebook sync` by the `agentId` of their traces, where they differ from it. */
const names: Readonly<Record<string, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  'copilot-cli': 'Copilot CLI',
  cursor: 'Cursor',
  'gemini-cli': 'Gemini CLI',
  'qwen-code': 'Qwen Code',
}

/** The name of an agent; undefined if the client has not said which it was. */
export const agentName = (agentId: string): string | undefined =>
  agentId === 'unknown' ? undefined : Object.hasOwn(names, agentId) ? names[agentId] : visibleLine(agentId)

/** The agent and the name of its model, as far as they are known, such as `Claude Code · Opus 4.6`. */
export const agentAndModel = ({
  agentId,
  model,
  modelName,
}: {
  readonly agentId: string
  readonly model?: string | undefined
  readonly modelName?: string | undefined
}): string => {
  const shownModel = modelName ?? model
  return [agentName(agentId), shownModel === undefined ? undefined : visibleLine(shownModel)]
    .filter((text) => text !== undefined && text !== '')
    .join(' · ')
}
