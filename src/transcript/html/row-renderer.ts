import { inSteps } from '../../base/json/steps.ts'
import { type Message, readMessage } from '../message.ts'
import { type Turn, newTurns } from '../turns.ts'
import type { Showing } from './links.ts'
import type { Html } from './markup.ts'
import { type OnRow, newRows } from './rows.ts'

/**
 * The messages of a session that are shown, from one place up to another. Messages before and after them are added too, for their calls and
 * results, but not shown.
 */
export type Range = {
  readonly from: number
  readonly to: number
  /** The place of the first message that is added, and the number of prompts before it. */
  readonly first: Pick<Turn, 'ordinal' | 'prompts'>
}

export const WHOLE: Range = { from: 0, to: Infinity, first: { ordinal: 0, prompts: 0 } }

function* sources(pieces: Iterable<Html>): Generator<string, void> {
  for (const { source } of pieces) yield source
}

/**
 * The rows of messages, step by step; a step with nothing to show is an empty text.
 * @param note called with each message @param isWanted whether a message in the range gets a row
 */
export const newRowRenderer = (
  showing: Showing,
  { from, to, first }: Range,
  note?: OnRow,
  isWanted: (turn: Turn) => boolean = () => true,
) => {
  const turns = newTurns(first)
  const rows = newRows(showing, note)

  function* show(ready: readonly Turn[]): Generator<string, void> {
    for (const turn of ready) {
      if (turn.ordinal < from || turn.ordinal >= to || !isWanted(turn)) rows.pass(turn)
      else yield* sources(rows.add(turn))
    }
  }

  return {
    /** Adds the next message, with its parts, as JSON text from the API. Returns what was read of it. */
    *add(message: string): Generator<string, Message> {
      const read = yield* inSteps(readMessage(message), '')
      yield* show(turns.add(read, message.length))
      return read
    },
    *end() {
      yield* show(turns.end())
      yield* sources(rows.end())
    },
  }
}
