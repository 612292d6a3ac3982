import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { acceptedId, isExternalId } from '../support/external-ids.ts'
import { type Json, objectOf, parseObject, textOf } from '../support/json.ts'
import type { Described } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import type { Draft } from '../support/parts.ts'
import { forgottenCalls } from '../support/tool-calls.ts'
import { count, forkOf, mostFrequent, newPromptTitle, traceFieldsOf } from '../support/trace-fields.ts'
import { draftOf } from './messages.ts'
import type { Inline } from './scope.ts'

/** `leaf` is the id of the message that a summary ends with. */
type Summary = { readonly leaf: string; readonly summary: string }

/** The titles in the lines of a session (README, rule 10). */
const newTitles = () => {
  let [custom, ai]: [string | undefined, string | undefined] = [undefined, undefined]
  const summaries: Summary[] = []
  return {
    note: (json: Json): void => {
      const { type, leafUuid: leaf } = json
      const summary = textOf(json['summary'])
      if (type === 'custom-title') custom = textOf(json['customTitle']) ?? custom
      if (type === 'ai-title') ai = textOf(json['aiTitle']) ?? ai
      if (type === 'summary' && summary && typeof leaf === 'string') summaries.push({ leaf, summary })
    },
    /** The user's title, else the agent's, else the last summary of this session; files also hold summaries of other sessions. */
    best: (isOwn: (uuid: string) => boolean): string | undefined =>
      custom ?? ai ?? summaries.findLast(({ leaf }) => isOwn(leaf))?.summary,
  }
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

/** The call that started a sub-agent, which the CLI stores in a file beside that of the sub-agent (README, rule 9). */
export const parentCallOf = (path: string): string | undefined => {
  if (!isSubAgent(path)) return undefined
  try {
    const { toolUseId } = parseObject(readFileSync(path.replace(/\.jsonl$/, '.meta.json'), 'utf8')) ?? {}
    return isExternalId(toolUseId) ? toolUseId : undefined
  } catch {
    return undefined
  }
}

/** The session that started the sub-agent whose session the file holds (README, rule 9). */
const parentOf = (path: string, sessionIds: ReadonlyMap<string, number>): string | undefined => {
  if (!isSubAgent(path)) return undefined
  const folder = /[\\/]([^\\/]+)[\\/]subagents[\\/]/.exec(path)?.[1]
  const parent = folder ?? mostFrequent(sessionIds)
  return parent === undefined || parent === basename(path, '.jsonl') ? undefined : acceptedId(parent, 'session')
}

/** The session of which a line is a copy: a branch names it in each line, `--fork-session` in those of answers (README, rule 9). */
const originIn = ({ forkedFrom, requestSessionId, sessionId }: Json): string | undefined => {
  const origin = textOf(objectOf(forkedFrom)['sessionId']) ?? textOf(requestSessionId)
  return origin === sessionId ? undefined : origin
}

/** What a sub-agent within the file of a session is called: by that session, because a fork of it has the same lines (README, rule 9). */
export const asInline = (
  { trace: { parentKind: _, ...trace } }: Described,
  { id, callId, sessionId }: Inline & { readonly sessionId: string },
): Described => ({
  externalId: acceptedId(`${sessionId}-agent-${id}`, 'session'),
  trace: { ...trace, parentExternalId: sessionId, parentCallId: callId },
})

const messageIn = (json: Json): Draft | undefined =>
  draftOf(json, { calls: forgottenCalls, wholeOutput: (output) => output })

/** Collects the data for the id and the fields of the trace from lines (README, rules 9 and 10). */
export const newOutline = () => {
  const sessionIds = new Map<string, number>()
  const models = new Map<string, number>()
  const titles = newTitles()
  let projectPath: string | undefined
  let gitBranch: string | undefined
  let origin: string | undefined
  const prompt = newPromptTitle()
  return {
    /** `model` is given with the first line of an answer that has it, so that each answer counts once. */
    note: ({ json, path }: ObjectLine, model: string | undefined): void => {
      const { sessionId } = json
      if (typeof sessionId === 'string') count(sessionIds, sessionId)
      projectPath ??= textOf(json['cwd'])
      if (path === undefined) gitBranch = textOf(json['gitBranch']) ?? gitBranch
      origin = originIn(json) ?? origin
      if (model !== undefined) count(models, model)
      titles.note(json)
      const message = prompt.isFound() ? undefined : messageIn(json)
      if (message) prompt.note(message)
    },
    /** `isOwn` says whether an id is that of one of the file's lines. */
    describe: (agentId: string, path: string, isOwn: (uuid: string) => boolean): Described => ({
      externalId: externalIdOf(path, sessionIds),
      trace: traceFieldsOf(agentId, {
        title: titles.best(isOwn) ?? prompt.best(),
        projectPath,
        model: mostFrequent(models),
        gitBranch,
        ...(origin === undefined || isSubAgent(path)
          ? { parentExternalId: parentOf(path, sessionIds) }
          : forkOf(origin)),
        parentCallId: parentCallOf(path),
      }),
    }),
  }
}
export type Outline = ReturnType<typeof newOutline>
