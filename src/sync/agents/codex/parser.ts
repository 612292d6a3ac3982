import type { SessionMessage } from '../agent.ts'
import { type MessageIds, newMessageIds, noMessageIds, type SavedMessageIds } from '../support/external-ids.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { newOutline, type Outline, type SavedOutline } from '../support/outline.ts'
import { newToolCalls, type SavedCalls } from '../support/tool-calls.ts'
import { traceFieldsOf } from '../support/trace-fields.ts'
import { type OwnStart, ownStartOf } from './fork.ts'
import { type Reading, readLine } from './messages.ts'
import { externalIdOf, type Meta, placeOf, sessionIdOf, withLine } from './meta.ts'
import { titlesNear } from './titles.ts'

/** What the lines after a place need of those before it. */
type Saved = {
  readonly ownStart: OwnStart
  readonly meta: Meta
  readonly outline: SavedOutline
  readonly calls: SavedCalls
  readonly ids: SavedMessageIds
  readonly model?: string | undefined
}

type State = Reading & {
  readonly ownStart: OwnStart
  readonly outline: Outline
  readonly ids: MessageIds | undefined
  meta: Meta
}

const start = async ({ path, size, saved, ahead }: Start<State, Saved>): Promise<State> => {
  const ids = ahead && newMessageIds(saved?.ids)
  return {
    ownStart: saved?.ownStart ?? ahead?.ownStart ?? (await ownStartOf(path, size)),
    meta: saved?.meta ?? {},
    outline: newOutline(saved?.outline),
    calls: newToolCalls(saved?.calls),
    ids,
    messageId: ids ?? noMessageIds,
    model: saved?.model,
  }
}

/** The message of a line, unless it is a copy of one of the parent's (README, rule 9). */
const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  state.meta = withLine(state.meta, line.json)
  const message = readLine(state, line)
  if (!message || line.number < state.ownStart.line) return noMessages
  state.outline.note(message)
  return [message]
}

const save = ({ ownStart, meta, outline, calls, ids, model }: State): Saved | undefined =>
  ids && ownStart.isFinal
    ? { ownStart, meta, outline: outline.save(), calls: calls.save(), ids: ids.save(), model }
    : undefined

/** Reads the lines of a session (README). Raise the number in `version` when `Saved` changes. */
export const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/1`,
  start,
  step,
  describe: async ({ meta, outline }, path) => {
    const title = (await titlesNear(path)).get(sessionIdOf(path, meta)) ?? outline.title()
    return {
      externalId: externalIdOf(path, meta),
      trace: traceFieldsOf(agentId, { title, model: outline.model(), ...placeOf(meta) }),
    }
  },
  save,
})
