import type { SessionMessage } from '../agent.ts'
import { type MessageIds, newMessageIds, noMessageIds, type SavedMessageIds } from '../support/external-ids.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { newOutline, type Outline, type SavedOutline, traceFieldsOf } from '../support/trace-fields.ts'
import { newToolCalls, type SavedCalls } from '../support/tool-calls.ts'
import { type AgentSessions, withAgent } from './content.ts'
import { type OwnStart, ownStartOf } from './fork.ts'
import { isRolloutLine, payloadOf, type Reading, readLine } from './messages.ts'
import { externalIdOf, type Meta, parentOf, placeOf, sessionIdOf, withLine } from './meta.ts'
import { newOutcomes, type Outcomes, type SavedOutcomes } from './outcomes.ts'
import { indexedTitle } from './files.ts'
import { newTurns, type SavedTurns, type Turns } from './turns.ts'

/** What later lines need of the lines before them. */
type Saved = {
  readonly ownStart: OwnStart
  readonly meta: Meta
  readonly outline: SavedOutline
  readonly calls: SavedCalls
  readonly ids: SavedMessageIds
  readonly outcomes: SavedOutcomes
  readonly turns: SavedTurns
  readonly agents: readonly (readonly [string, string])[]
  readonly model?: string | undefined
}

type State = Omit<Reading, 'agents'> & {
  readonly ahead: State | undefined
  readonly ownStart: OwnStart
  readonly outline: Outline
  readonly ids: MessageIds | undefined
  readonly outcomes: Outcomes
  readonly turns: Turns
  meta: Meta
  agents: AgentSessions
}

const start = async ({ path, size, saved, ahead }: Start<State, Saved>): Promise<State> => {
  const ids = ahead && newMessageIds(saved?.ids)
  const outcomes = newOutcomes(saved?.outcomes)
  return {
    ahead,
    ownStart: saved?.ownStart ?? ahead?.ownStart ?? (await ownStartOf(path, size)),
    meta: saved?.meta ?? {},
    outline: newOutline(saved?.outline),
    calls: newToolCalls(saved?.calls),
    ids,
    messageId: ids ?? noMessageIds,
    outcomes,
    isFailed: (ahead?.outcomes ?? outcomes).isFailed,
    turns: newTurns(saved?.turns),
    agents: new Map(saved?.agents),
    model: saved?.model,
  }
}

/** Notes what a line says about other lines: an event, or the result of a call. */
const note = (state: State, { json, number }: ObjectLine): void => {
  const payload = payloadOf(json)
  if (json['type'] === 'response_item' && state.ids) state.outcomes.noteResult(payload)
  if (json['type'] !== 'event_msg') return
  state.outcomes.noteEvent(payload)
  state.agents = withAgent(state.agents, payload)
  if (number >= state.ownStart.line) state.turns.noteEvent(payload, number)
}

/** The message of a line, unless it is copied from the parent session, or was taken back (README, rules 9 and 12). */
const step = (state: State, line: ObjectLine): readonly SessionMessage[] => {
  state.meta = withLine(state.meta, line.json)
  note(state, line)
  const message = readLine(state, line)
  if (!message || line.number < state.ownStart.line) return noMessages
  state.outline.note(message)
  state.turns.notePrompt(message)
  return state.ahead?.turns.isUndone(line.number) ? noMessages : [message]
}

/** Undefined if the last line begins a turn or takes turns back but has no newline yet: it may still become another line. */
const save = (state: State): Saved | undefined => {
  const { ahead, ownStart, meta, outline, calls, ids, outcomes, turns, agents, model } = state
  if (!ids || !ownStart.isFinal || turns.changes() !== ahead?.turns.changes()) return undefined
  return {
    ownStart,
    meta,
    model,
    outline: outline.save(),
    calls: calls.save(),
    ids: ids.save(),
    outcomes: outcomes.save(),
    turns: turns.save(),
    agents: [...agents],
  }
}

/** Reads the lines of a session (README). Raise the number in `version` when `Saved` changes. */
export const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/2`,
  understands: isRolloutLine,
  start,
  step,
  describe: async ({ meta, outline, turns }, path) => {
    const title = meta.name ?? (await indexedTitle(path, sessionIdOf(path, meta))) ?? turns.title()
    return {
      externalId: externalIdOf(path, meta),
      trace: traceFieldsOf(agentId, {
        title,
        model: outline.model(),
        ...placeOf(meta),
        parentExternalId: parentOf(meta),
      }),
    }
  },
  save,
})
