import type { ReadRows } from '../../src/engine/projection.ts'
import { filterToken, tokensOfValues, valuesOfTrace } from '../../src/trace/tokens/filter-tokens.ts'
import { type KeyRow, keyStatement } from '../../src/trace/tokens/hashes.ts'
import {
  type MessageRow,
  type TraceRow,
  inPieces,
  timeOf,
  tracesStatement,
  tracesValues,
} from '../../src/trace/tokens/stored-rows.ts'
import { textsOfTrace } from '../../src/trace/tokens/trace-texts.ts'
import { type Hasher, addText, newHasher, sortedHashes } from './hash-messages.ts'
import { TRACE_ITSELF } from './tables.ts'
import { type HashMessages, newHashMessages } from './thread.ts'

/** A row to be made. */
export type Wanted = { readonly traceId: string; readonly ordinal: number; readonly seq: bigint | undefined }

/** A row as it is to be. */
export type Doc = Wanted & { readonly incarnation: bigint; readonly at: number; readonly tokens: Int32Array }

/** What its rows have of a trace. */
export type OfTrace = { readonly incarnation: bigint; readonly tokens: Int32Array }

/** What makes the hashes of an index. */
export type Hashing = Hasher & { readonly hashMessages: HashMessages }

export const readHashing = async (read: ReadRows): Promise<Hashing> => {
  const [row] = await read<KeyRow>('search-key', keyStatement, [])
  return { ...newHasher(row!.key), hashMessages: newHashMessages(row!.key) }
}

/** Reads what the index has of traces and messages, from the present rows of another group. */
export const newDocReader = (read: ReadRows, hashing: Hashing) => {
  const { hashOf, hashMessages } = hashing

  const readTraces = async (ids: readonly string[]): Promise<Map<string, TraceRow>> => {
    const rows = await read<TraceRow>('search-traces', tracesStatement, tracesValues(ids))
    return new Map(rows.map((row) => [row.id, row]))
  }

  const ofTrace = (row: TraceRow): OfTrace => ({
    incarnation: row.incarnation,
    tokens: sortedHashes(new Set(tokensOfValues(valuesOfTrace(row)).map(hashOf))),
  })

  const docOfTrace = (row: TraceRow, wanted: Wanted): Doc => {
    const hashes = new Set([hashOf(filterToken('is', 'trace'))])
    for (const text of textsOfTrace(row)) addText(hashing, hashes, text)
    return { ...wanted, incarnation: row.incarnation, at: Number(row.created_at), tokens: sortedHashes(hashes) }
  }

  const docsOfMessages = async (found: readonly (readonly [Wanted, TraceRow, MessageRow])[]): Promise<Doc[]> => {
    const tokens = await hashMessages(found.map(([, , row]) => row))
    return found.map(([wanted, { incarnation }, { timestamp, created_at }], i) => ({
      ...wanted,
      incarnation,
      at: timeOf(timestamp, created_at),
      tokens: tokens[i]!,
    }))
  }

  /** Yields the rows of these, some at once, without those that are gone already. */
  async function* docsOf(wanted: readonly Wanted[], traces: ReadonlyMap<string, TraceRow>): AsyncGenerator<Doc[]> {
    for await (const { piece, rowOf } of inPieces(read, wanted)) {
      const found: [Wanted, TraceRow, MessageRow][] = []
      const docs: Doc[] = []
      for (const one of piece) {
        const [trace, row] = [traces.get(one.traceId), rowOf(one)]
        if (trace && one.ordinal === TRACE_ITSELF) docs.push(docOfTrace(trace, one))
        else if (trace && row) found.push([one, trace, row])
      }
      yield [...docs, ...(await docsOfMessages(found))]
    }
  }

  return { readTraces, ofTrace, docsOf }
}
