import type { SessionMessage } from '../agent.ts'
import { type Json, textOf } from '../support/json.ts'
import { count, mostFrequent, storedTitle, titleOfPrompt } from '../support/trace-fields.ts'
import type { Path } from './path.ts'

const TYPES = [
  ...['session', 'session_info', 'message', 'compaction', 'branch_summary', 'model_change', 'thinking_level_change'],
  ...['custom', 'custom_message', 'label'],
]

/** Whether a line has the type of an entry that the agent writes. */
export const isEntry = ({ type }: Json): boolean => TYPES.includes(String(type))

/** What lines say about the session itself, as plain JSON (README, rules 1 and 9). */
export type Details = { hasHeader?: boolean; sessionId?: string; projectPath?: string; name?: string }

const noteHeader = (details: Details, { id, cwd }: Json): void => {
  if (details.hasHeader) return
  const [sessionId, projectPath] = [textOf(id), textOf(cwd)]
  Object.assign(details, { hasHeader: true, ...(sessionId && { sessionId }), ...(projectPath && { projectPath }) })
}

/** Notes what a line says about the session. */
export const noteDetails = (details: Details, json: Json): void => {
  if (json['type'] === 'session') noteHeader(details, json)
  const name = json['type'] === 'session_info' ? storedTitle(json['name']) : undefined
  if (name !== undefined) details.name = name
}

/** Values of lines, of which each different one is kept once. */
const newLinesByValue = () => {
  const values: string[] = []
  const numberOf = new Map<string, number>()
  const lines: number[] = []
  const numbers: number[] = []
  return {
    add: (line: number, value: string): void => {
      if (!numberOf.has(value)) numberOf.set(value, values.push(value) - 1)
      lines.push(line)
      numbers.push(numberOf.get(value)!)
    },
    onPath: function* ({ isOnPath }: Path): Generator<string> {
      for (const [index, line] of lines.entries()) if (isOnPath(line)) yield values[numbers[index]!]!
    },
  }
}

/** The models and prompts on all branches, because only after the last entry is it known which branch counts. */
export const newBranches = () => {
  const [models, titles] = [newLinesByValue(), newLinesByValue()]
  return {
    note: (message: SessionMessage): void => {
      const title = titleOfPrompt(message)
      if (message.model !== undefined) models.add(message.order, message.model)
      if (title !== undefined) titles.add(message.order, title)
    },
    model: (path: Path): string | undefined => {
      const counts = new Map<string, number>()
      for (const model of models.onPath(path)) count(counts, model)
      return mostFrequent(counts)
    },
    /** The first prompt of the path, shortened. */
    title: (path: Path): string | undefined => titles.onPath(path).next().value ?? undefined,
  }
}
