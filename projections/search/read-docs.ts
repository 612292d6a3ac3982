import type { ReadRows } from '../../src/eventstore/engine/projection.ts'
import { filterToken, placeToken, tokensOfValues, valuesOfTrace } from '../../src/server/trace/tokens/filter-tokens.ts'
import { type HashOf, type KeyRow, keyStatement } from '../../src/server/trace/tokens/hashes.ts'
import {
  type MessageRow,
  type TraceRow,
  inPieces,
  timeOf,
  tracesStatement,
  tracesValues,
} from '../../src/server/trace/tokens/stored-rows.ts'
import { allPlaces, textsOfTrace } from '../../src/server/trace/tokens/searched-text.ts'
import type { Reason } from './changes.ts'
import { type Hasher, addText, newHasher, sortedHashes } from './hash-messages.ts'
import { TRACE_ITSELF } from '../../src/tables/search.ts'
import { type HashMessages, newHashMessages } from './hashing.ts'

/** A row of the index that is to be written. */
export type DocToWrite = Reason & { readonly traceId: string; readonly ordinal: number }

/** A row with its columns. */
export type Doc = DocToWrite & {
  readonly incarnation: bigint
  readonly at: number
  readonly place: number
  readonly tokens: Int32Array
}

/** The hashes of a trace's values, which all its rows have. */
export type TraceTokens = { readonly incarnation: bigint; readonly tokens: Int32Array }

/** Makes the hashes of the index, with its key. */
export type Hashing = Hasher & { readonly hashMessages: HashMessages }

export const readHashing = async (read: ReadRows): Promise<Hashing> => {
  const [row] = await read<KeyRow>('search-key', keyStatement, [])
  return { ...newHasher(row!.key), hashMessages: newHashMessages(row!.key) }
}

/** How often a query is sent while the thread works: PostgreSQL ends a transaction that is idle for long, and the thread may have to wait for the processor. */
const ASK_MS = 1_000

const keepTransactionAlive = async <T>(read: ReadRows, work: Promise<T>): Promise<T> => {
  const asking = setInterval(() => void read('', 'select', []).catch(() => {}), ASK_MS)
  return work.finally(() => clearInterval(asking))
}

/** The index in `allPlaces` of the best place in which a message has a text, by its hashes; the number of all places if it has none. */
const newBestPlace = (hashOf: HashOf) => {
  const hashes = allPlaces.map((place) => hashOf(placeToken({ place })))
  return (tokens: Int32Array): number => {
    const best = hashes.findIndex((hash) => tokens.includes(hash))
    return best < 0 ? hashes.length : best
  }
}

/** Makes rows of the index from the present traces and messages, which are read from the main group. */
export const newDocReader = (read: ReadRows, hashing: Hashing) => {
  const { hashOf, hashMessages } = hashing
  const bestPlace = newBestPlace(hashOf)

  const readTraces = async (ids: readonly string[]): Promise<Map<string, TraceRow>> => {
    const rows = await read<TraceRow>('search-traces', tracesStatement, tracesValues(ids))
    return new Map(rows.map((row) => [row.id, row]))
  }

  const tokensOfTrace = (row: TraceRow): TraceTokens => ({
    incarnation: row.incarnation,
    tokens: sortedHashes(new Set(tokensOfValues(valuesOfTrace(row)).map(hashOf))),
  })

  const docOfTrace = (row: TraceRow, wanted: DocToWrite): Doc => {
    const hashes = new Set([hashOf(filterToken('is', 'trace'))])
    for (const text of textsOfTrace(row)) addText(hashing, hashes, text)
    const [at, tokens] = [Number(row.created_at), sortedHashes(hashes)]
    return { ...wanted, incarnation: row.incarnation, at, place: bestPlace(tokens), tokens }
  }

  const docsOfMessages = async (found: readonly (readonly [DocToWrite, TraceRow, MessageRow])[]): Promise<Doc[]> => {
    const tokens = await keepTransactionAlive(read, hashMessages(found.map(([, , row]) => row)))
    return found.map(([wanted, { incarnation }, { timestamp, created_at }], i) => ({
      ...wanted,
      incarnation,
      at: timeOf(timestamp, created_at),
      place: bestPlace(tokens[i]!),
      tokens: tokens[i]!,
    }))
  }

  /** Yields the rows with their columns, in groups, without those whose trace or message has been removed meanwhile. */
  async function* docsOf(wanted: readonly DocToWrite[], traces: ReadonlyMap<string, TraceRow>): AsyncGenerator<Doc[]> {
    for await (const { piece, rowOf } of inPieces(read, wanted)) {
      const found: [DocToWrite, TraceRow, MessageRow][] = []
      const docs: Doc[] = []
      for (const one of piece) {
        const [trace, row] = [traces.get(one.traceId), rowOf(one)]
        if (trace && one.ordinal === TRACE_ITSELF) docs.push(docOfTrace(trace, one))
        else if (trace && row) found.push([one, trace, row])
      }
      yield [...docs, ...(await docsOfMessages(found))]
    }
  }

  return { readTraces, tokensOfTrace, docsOf }
}
