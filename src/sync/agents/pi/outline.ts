import type { SessionMessage } from '../agent.ts'
import { textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { count, mostFrequent } from '../support/most-frequent.ts'
import { storedTitle, titleOf } from '../support/title.ts'
import { newEntryReader } from './messages.ts'
import { newTree } from './path.ts'

/** The result of the first reading. */
type Outline = {
  readonly sessionId: string | undefined
  readonly projectPath: string | undefined
  readonly title: string | undefined
  readonly model: string | undefined
  readonly isOnPath: (line: number) => boolean
}

/** The models and prompts of all branches, by line: which of them count is known at the end only. */
const newNotes = () => {
  const models = new Map<number, string>()
  const prompts = new Map<number, string>()
  return {
    add: ({ role, model, order, parts }: SessionMessage): void => {
      if (model !== undefined) models.set(order, model)
      const text = role === 'user' ? parts.find(({ type }) => type === 'text') : undefined
      if (text?.type === 'text') prompts.set(order, titleOf(text.content.text))
    },
    model: (isOnPath: Outline['isOnPath']): string | undefined => {
      const counts = new Map<string, number>()
      for (const [line, model] of models) if (isOnPath(line)) count(counts, model)
      return mostFrequent(counts)
    },
    prompt: (isOnPath: Outline['isOnPath']): string | undefined =>
      prompts.entries().find(([line]) => isOnPath(line))?.[1],
  }
}

/** Reads all `lines` once: the header, the path, and what the trace's fields are made of (README, rules 1, 2 and 9). */
export const readOutline = async (lines: AsyncIterable<ObjectLine>): Promise<Outline> => {
  const [tree, notes, read] = [newTree(), newNotes(), newEntryReader()]
  let header: ObjectLine['json'] | undefined
  let name: string | undefined
  for await (const line of lines) {
    const { json, number } = line
    if (json['type'] === 'session') {
      header ??= json
      continue
    }
    tree.add(json, number)
    if (json['type'] === 'session_info') name = storedTitle(json['name']) ?? name
    const message = read(line)
    if (message) notes.add(message)
  }
  const path = tree.path()
  const isOnPath = (line: number) => path[line] === 1
  return {
    sessionId: textOf(header?.['id']),
    projectPath: textOf(header?.['cwd']),
    title: name ?? notes.prompt(isOnPath),
    model: notes.model(isOnPath),
    isOnPath,
  }
}
