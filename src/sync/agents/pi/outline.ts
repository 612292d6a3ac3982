import { noMessageIds } from '../support/external-ids.ts'
import { textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { count, mostFrequent } from '../support/most-frequent.ts'
import { newOutline } from '../support/outline.ts'
import { storedTitle } from '../support/title.ts'
import { messagesOf, newEntryReader } from './messages.ts'
import { newTree } from './path.ts'

/** The result of the first reading. */
type Outline = {
  readonly sessionId: string | undefined
  readonly projectPath: string | undefined
  readonly title: string | undefined
  readonly model: string | undefined
  readonly isOnPath: (line: number) => boolean
}

/** The model of each entry, of all branches: which of them count is known at the end only. */
const newModels = () => {
  const names = new Map<string, number>()
  const lines: number[] = []
  const models: number[] = []
  return {
    add: (line: number, model: string): void => {
      if (!names.has(model)) names.set(model, names.size)
      lines.push(line)
      models.push(names.get(model)!)
    },
    mostFrequent: (isOnPath: Outline['isOnPath']): string | undefined => {
      const counts = new Map<string, number>()
      const all = [...names.keys()]
      for (const [index, line] of lines.entries()) if (isOnPath(line)) count(counts, all[models[index]!]!)
      return mostFrequent(counts)
    },
  }
}

/** The first prompt of the path: the file is read again until it comes. */
const firstPrompt = async (lines: AsyncIterable<ObjectLine>, isOnPath: Outline['isOnPath']) => {
  const outline = newOutline()
  for await (const message of messagesOf(lines, isOnPath)) {
    outline.note(message)
    if (outline.title() !== undefined) break
  }
  return outline.title()
}

/**
 * Reads all `lines` once: the header, the path, and what the trace's fields are made of (README, rules 1, 2 and 9). `again` gives
 * the lines a second time.
 */
export const readOutline = async (
  lines: AsyncIterable<ObjectLine>,
  again: () => AsyncIterable<ObjectLine>,
): Promise<Outline> => {
  const [tree, models] = [newTree(), newModels()]
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
    const model = newEntryReader(noMessageIds)(line)?.model
    if (model !== undefined) models.add(number, model)
  }
  const isOnPath = tree.path()
  return {
    sessionId: textOf(header?.['id']),
    projectPath: textOf(header?.['cwd']),
    title: name ?? (await firstPrompt(again(), isOnPath)),
    model: models.mostFrequent(isOnPath),
    isOnPath,
  }
}
