import type { ReadTables } from '../../tables/main.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import type { Chunk } from '../http/long-list.ts'
import { type Beginning, beginningsOf } from '../trace/messages/beginnings.ts'
import { chunksOf } from '../trace/messages/chunks.ts'
import { promptsOf, windowOf } from '../trace/messages/places.ts'
import { ALL_MESSAGES } from '../trace/messages/queries.ts'
import type { StoredDetail } from '../trace/queries.ts'
import { WHOLE } from '../../transcript/html/row-renderer.ts'
import { MOST_WAITING } from '../../transcript/turns.ts'

type TraceReads = Pick<Reads<ReadTables>, 'rows'>
type TraceIncarnation = Pick<StoredDetail, 'id' | 'incarnation'>

/** How many messages before and after the shown ones are read, because they may have the calls of shown results, and the results of shown calls. */
export const AROUND = MOST_WAITING + 1

type Places = { readonly from: number; readonly to: number }

/**
 * The messages from one place up to another, with those around them, at a revision of the trace; without places all of them.
 * @throws BrokenOff if the trace has been deleted
 */
export const messagesBetween = async (reads: TraceReads, trace: TraceIncarnation, places: Places | undefined) => {
  const start = Math.max(0, (places?.from ?? 0) - AROUND)
  const count = places ? places.to + AROUND - start : ALL_MESSAGES
  const { revision, prompts, ordinals } = await windowOf(reads, trace, { from: start, count })
  return {
    range: places ? { ...places, first: { ordinal: start, prompts } } : WHOLE,
    revision,
    chunks: () => chunksOf(reads, trace, { ordinals, revision, includeParts: true }),
  }
}

type ShownMessages = Awaited<ReturnType<typeof messagesBetween>>

export type Around = Pick<ShownMessages, 'range' | 'chunks'>

/** Yields the messages at some places, in ascending order, with those around them; places near each other are read together. */
export async function* messagesAround(
  reads: TraceReads,
  trace: TraceIncarnation,
  places: readonly number[],
): AsyncGenerator<Around, void> {
  const runs: { from: number; to: number }[] = []
  for (const place of places) {
    const last = runs.at(-1)
    // Calls and results of a message may be before or after it.
    if (last && place - AROUND <= last.to) last.to = place + 1 + AROUND
    else runs.push({ from: Math.max(0, place - AROUND), to: place + 1 + AROUND })
  }
  for (const run of runs) yield messagesBetween(reads, trace, run)
}

/** The most prompts in an outline, and how many of them are read at once. */
const MOST_PROMPTS = 2_000
const PROMPTS_AT_ONCE = 200

/** A prompt in the outline: its externalId, place and number, and the beginning of its text. */
export type PromptBeginning = Beginning & { readonly ordinal: number; readonly number: number }

/** The prompts that a trace had at a revision, chunk by chunk, and the number of those that the outline leaves out. */
export const allPrompts = async (reads: TraceReads, trace: TraceIncarnation, revision: bigint) => {
  const { prompts, count } = await promptsOf(reads, trace, { revision, most: MOST_PROMPTS })
  async function* chunks(): AsyncGenerator<Chunk<PromptBeginning>, void> {
    for (let start = 0; start < prompts.length; start += PROMPTS_AT_ONCE) {
      const some = prompts.slice(start, start + PROMPTS_AT_ONCE)
      const beginnings = await beginningsOf(
        reads,
        trace,
        some.map(({ ordinal }) => ordinal),
      )
      const rows = some.flatMap(({ ordinal, place }, i) => {
        const found = beginnings.get(ordinal)
        return found ? [{ ...found, ordinal: place, number: start + i + 1 }] : []
      })
      yield { rows, size: rows.reduce((sum, { text }) => sum + text.length, 0) }
    }
  }
  return { more: count - prompts.length, chunks }
}
