import { newYielding } from '../../src/base/yielding.ts'
import type { ReadRows } from '../../src/engine/projection.ts'
import {
  filterToken,
  placeToken,
  tokensOfValues,
  valuesOfMessage,
  valuesOfTrace,
} from '../../src/trace/tokens/filter-tokens.ts'
import type { HashOf } from '../../src/trace/tokens/hashes.ts'
import { textsOfMessage } from '../../src/trace/tokens/message-texts.ts'
import type { SearchedText } from '../../src/trace/tokens/searched-text.ts'
import {
  type MessageRow,
  type TraceRow,
  inPieces,
  storedMessage,
  timeOf,
  tracesStatement,
  tracesValues,
} from '../../src/trace/tokens/stored-rows.ts'
import { textsOfTrace } from '../../src/trace/tokens/trace-texts.ts'
import { addTokens } from '../../src/trace/tokens/words.ts'
import { TRACE_ITSELF } from './tables.ts'

/** A row to be made. */
export type Wanted = { readonly traceId: string; readonly ordinal: number; readonly seq: bigint | undefined }

/** A row as it is to be. */
export type Doc = Wanted & { readonly incarnation: bigint; readonly at: number; readonly tokens: Int32Array }

/** What its rows have of a trace. */
export type OfTrace = { readonly incarnation: bigint; readonly tokens: Int32Array }

/** Of a message so many different tokens are kept. */
const MOST_TOKENS = 100_000

/** After so many hashes other work may have its turn. */
const HASHED_AT_ONCE = 64

/** How often the server is asked something, at least. */
const ASKED_MS = 1_000

const sortedHashes = (hashes: ReadonlySet<number>): Int32Array => Int32Array.from(hashes).sort()

const hashed = (tokens: Iterable<string>, hashOf: HashOf): Int32Array =>
  sortedHashes(new Set(Array.from(tokens, (token) => hashOf(token))))

const tokensOfText = (text: SearchedText): Set<string> => {
  const tokens = new Set([placeToken(text)])
  addTokens(tokens, text.text)
  return tokens
}

/** Reads what the index has of traces and messages, from the present rows of another group, with turns for other work. */
export const newDocReader = (read: ReadRows, hashOf: HashOf) => {
  const turn = newYielding()
  let asked = performance.now()

  /** The server ends a transaction in which it is asked nothing for long. */
  const stayAlive = async () => {
    if (performance.now() - asked < ASKED_MS) return
    await read('', 'select', [])
    asked = performance.now()
  }

  const readTraces = async (ids: readonly string[]): Promise<Map<string, TraceRow>> => {
    const rows = await read<TraceRow>('search-traces', tracesStatement, tracesValues(ids))
    return new Map(rows.map((row) => [row.id, row]))
  }

  const ofTrace = (row: TraceRow): OfTrace => ({
    incarnation: row.incarnation,
    tokens: hashed(tokensOfValues(valuesOfTrace(row)), hashOf),
  })

  const docOfTrace = (row: TraceRow, wanted: Wanted): Doc => {
    const tokens = new Set([filterToken('is', 'trace')])
    for (const text of textsOfTrace(row)) for (const token of tokensOfText(text)) tokens.add(token)
    return { ...wanted, incarnation: row.incarnation, at: Number(row.created_at), tokens: hashed(tokens, hashOf) }
  }

  /** A new hash takes long, and all words of a message may be different. */
  const addHashes = async (hashes: Set<number>, tokens: Iterable<string>) => {
    let count = 0
    for (const token of tokens) {
      if (hashes.size >= MOST_TOKENS) return
      hashes.add(hashOf(token))
      if (++count % HASHED_AT_ONCE === 0) await turn()
    }
  }

  const docOfMessage = async (row: MessageRow, incarnation: bigint, wanted: Wanted): Promise<Doc> => {
    const hashes = new Set<number>()
    await addHashes(hashes, tokensOfValues(valuesOfMessage(row)))
    for (const text of textsOfMessage(storedMessage(row))) {
      if (text) await addHashes(hashes, tokensOfText(text))
      await turn()
    }
    const at = timeOf(row.timestamp, row.created_at)
    return { ...wanted, incarnation, at, tokens: sortedHashes(hashes) }
  }

  /** The rows of these, without those that are gone already. */
  const docsOf = async (wanted: readonly Wanted[], traces: ReadonlyMap<string, TraceRow>): Promise<Doc[]> => {
    const docs: Doc[] = []
    for await (const { piece, rowOf } of inPieces(read, wanted))
      for (const one of piece) {
        const [trace, message] = [traces.get(one.traceId), rowOf(one)]
        if (trace && one.ordinal === TRACE_ITSELF) docs.push(docOfTrace(trace, one))
        else if (trace && message) docs.push(await docOfMessage(message, trace.incarnation, one))
        await stayAlive()
      }
    return docs
  }

  return { readTraces, ofTrace, docsOf }
}
