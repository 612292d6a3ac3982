import { basename } from 'node:path'
import { acceptedId } from '../support/external-ids.ts'
import { type Json, textOf } from '../support/json.ts'
import type { Described } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { count, mostFrequent } from '../support/most-frequent.ts'
import { titleOfPrompt } from '../support/outline.ts'
import { newToolCalls } from '../support/tool-calls.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { ownMessage } from './messages.ts'
import { newTitles, type SavedTitles } from './titles.ts'

type Counts = readonly (readonly [string, number])[]

/** What the lines say of the session itself, as plain JSON. */
export type SavedOutline = {
  readonly sessionIds: Counts
  readonly models: Counts
  readonly titles: SavedTitles
  readonly projectPath?: string | undefined
  readonly gitBranch?: string | undefined
  readonly prompt?: string | undefined
}

/** Whether the file holds a sub-agent's own session: `agent-<id>.jsonl`. */
export const isSubAgent = (path: string): boolean => basename(path).startsWith('agent-')

/**
 * The trace's externalId: a sub-agent's file name, else the most frequent session id (README, rule 9). The id in the file name
 * is preferred where lines have it: shortly after a `/clear`, most lines of a file may belong to the previous session.
 */
const externalIdOf = (path: string, sessionIds: ReadonlyMap<string, number>): string => {
  const name = basename(path).replace(/\.jsonl$/, '')
  const id = isSubAgent(path) || sessionIds.has(name) ? name : (mostFrequent(sessionIds) ?? name)
  return acceptedId(id, 'session')
}

/** Whose sub-agent the file holds (README, rule 9). */
const parentOf = (path: string, sessionIds: ReadonlyMap<string, number>): string | undefined => {
  if (!isSubAgent(path)) return undefined
  const folder = /[\\/]([^\\/]+)[\\/]subagents[\\/]/.exec(path)?.[1]
  const parent = folder ?? mostFrequent(sessionIds)
  return parent === undefined || parent === basename(path, '.jsonl') ? undefined : acceptedId(parent, 'session')
}

const promptOf = (json: Json): string | undefined => {
  const message = ownMessage(json, { calls: newToolCalls(), wholeOutput: (output) => output })
  return message && titleOfPrompt(message)
}

/** What the trace's id and fields are made of (README, rules 9 and 10). */
export const newOutline = (saved?: SavedOutline) => {
  const sessionIds = new Map(saved?.sessionIds)
  const models = new Map(saved?.models)
  const titles = newTitles(saved?.titles)
  let { projectPath, gitBranch, prompt } = saved ?? {}
  return {
    /** `model` is that of an answer of which it was not known before. */
    note: ({ json }: ObjectLine, model: string | undefined): void => {
      const { sessionId } = json
      if (typeof sessionId === 'string') count(sessionIds, sessionId)
      projectPath ??= textOf(json['cwd'])
      gitBranch = textOf(json['gitBranch']) ?? gitBranch
      if (model !== undefined) count(models, model)
      titles.note(json)
      prompt ??= promptOf(json)
    },
    /** `isOwn` tells the ids of the file's lines. */
    describe: (agentId: string, path: string, isOwn: (uuid: string) => boolean): Described => ({
      externalId: externalIdOf(path, sessionIds),
      trace: traceFieldsOf(agentId, {
        title: titles.best(isOwn) ?? prompt,
        projectPath,
        model: mostFrequent(models),
        gitBranch,
        parentExternalId: parentOf(path, sessionIds),
      }),
    }),
    save: (isOwn: (uuid: string) => boolean): SavedOutline => ({
      sessionIds: [...sessionIds],
      models: [...models],
      titles: titles.save(isOwn),
      projectPath,
      gitBranch,
      prompt,
    }),
  }
}
export type Outline = ReturnType<typeof newOutline>
