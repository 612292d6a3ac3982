import { TRACE_ITSELF } from '../../tables/search.ts'
import { timeOrArrival } from '../../base/time-ahead.ts'
import type { Steps } from '../../base/json/steps.ts'
import { newYielding } from '../../base/yielding.ts'
import type { MessageRole } from '../../contract/message.ts'
import type { Role } from '../../contract/namespaces.ts'
import { comparable } from '../../base/folded.ts'
import { mayRead } from '../trace/policy.ts'
import { type FieldValues, valuesOfMessage, valuesOfTrace } from '../trace/tokens/filter-tokens.ts'
import { textsOfMessage } from '../trace/tokens/message-texts.ts'
import { type SearchedText, textsOfTrace } from '../trace/tokens/searched-text.ts'
import {
  type MessageRow,
  type TraceRow,
  inPieces,
  type ValuesRow,
  keysOf,
  storedMessage,
  timeOf,
  tracesStatement,
  tracesValues,
  valuesStatement,
} from '../trace/tokens/stored-rows.ts'
import type { Candidate } from './candidates.ts'
import { type Found, findIn, newQuickTest } from './found.ts'
import type { Condition, Field, Query } from './query.ts'
import type { ReadRows } from './reads.ts'

/** Names a message, or, with the ordinal `TRACE_ITSELF`, a trace itself. */
export type Key = Pick<Candidate, 'traceId' | 'ordinal'>

/** A message, or a trace itself, that has everything that the query asks for, with the texts in which it was found. */
export type FoundDoc = Key & {
  readonly externalId?: string
  readonly role?: MessageRole
  readonly at: number
  readonly found: readonly Found[]
}

/** The values that a hit has of the fields of a query. */
export type FoundValues = Pick<Candidate, 'traceId'> & { readonly values: FieldValues }

type Trace = { readonly row: TraceRow; readonly values: FieldValues }

/** Whether a message or a trace meets the conditions of a query on fields; `findIn` looks only in the places that the query allows. */
const holds = (conditions: ReadonlyMap<Field, Condition>, values: FieldValues): boolean =>
  [...conditions].every(([field, { any, none }]) => {
    const own = new Set(values[field]?.map(comparable))
    const has = (value: string) => own.has(comparable(value))
    return (any.length === 0 || any.some(has)) && !none.some(has)
  })

/** The time of a trace itself: when its session began, in milliseconds since 1970. */
const timeOfTrace = ({ started_at: startedAt, created_at: createdAt }: TraceRow): number =>
  timeOrArrival(startedAt, Number(createdAt))

/** The values of a message's fields, with those of its trace. */
const merged = (a: FieldValues, b: FieldValues): FieldValues => ({
  ...a,
  ...b,
  model: [...(a.model ?? []), ...(b.model ?? [])],
})

/**
 * Decides which candidates a caller may read, reads their texts, and searches them for the words of a query.
 * @param roles the roles of the caller, by namespace
 */
export const newVerifier = (readRows: ReadRows, query: Query, roles: ReadonlyMap<string, Role>) => {
  const turn = newYielding()
  const traces = new Map<string, Trace>()
  const conditions = new Map(query.conditions)
  conditions.delete('in')
  const mayHold = newQuickTest(query)

  const loadTraces = async (all: readonly Candidate[]) => {
    const missing = [...new Set(all.map(({ traceId }) => traceId))].filter((id) => !traces.has(id))
    if (missing.length === 0) return
    for (const row of await readRows<TraceRow>('search-traces', tracesStatement, tracesValues(missing)))
      traces.set(row.id, { row, values: valuesOfTrace(row) })
  }

  const isInTime = (row: TraceRow): boolean => {
    const { from = -Infinity, to = Infinity } = query
    const at = timeOfTrace(row)
    return from <= at && at <= to
  }

  /** The candidates whose traces the caller may read, in the same order; a trace itself only if it is of the time of the query, which the index does not know. */
  const readable = async (proposed: readonly Candidate[]): Promise<Candidate[]> => {
    await loadTraces(proposed)
    return proposed.filter(({ traceId, incarnation, ordinal }) => {
      const row = traces.get(traceId)?.row
      if (row?.incarnation !== incarnation || !mayRead(row, { role: roles.get(row.namespace_id) })) return false
      return ordinal !== TRACE_ITSELF || isInTime(row)
    })
  }

  /** Runs steps, and lets other work of the event loop in between. */
  const inTurns = async <Result>(work: Steps<Result>): Promise<Result> => {
    for (;;) {
      const { done, value } = work.next()
      if (done) return value
      await turn()
    }
  }

  const verifyTrace = async ({ row, values }: Trace): Promise<FoundDoc | undefined> => {
    const found = holds(conditions, values) ? await inTurns(findIn(textsOfTrace(row), query)) : undefined
    return found && { traceId: row.id, ordinal: TRACE_ITSELF, at: timeOfTrace(row), found }
  }

  /** The hit in the texts of a trace itself, such as its title. Only for a trace of which a candidate was verified. */
  const verifyTraceItself = async (traceId: string): Promise<FoundDoc | undefined> => {
    const trace = traces.get(traceId)
    return trace && isInTime(trace.row) ? verifyTrace(trace) : undefined
  }

  const verifyMessage = async (
    { traceId, ordinal }: Candidate,
    { values }: Trace,
    row: MessageRow,
  ): Promise<FoundDoc | undefined> => {
    if (conditions.size > 0 && !holds(conditions, merged(values, valuesOfMessage(row)))) return undefined
    if (!mayHold(`${row.text_content ?? ''}\n${row.parts ?? ''}`)) return undefined
    const texts: SearchedText[] = []
    for (const text of textsOfMessage(storedMessage(row))) {
      if (text) texts.push(text)
      else await turn()
    }
    const found = await inTurns(findIn(texts, query))
    const at = timeOf(row.timestamp, row.created_at)
    return found && { traceId, ordinal, externalId: row.external_id, role: row.role as MessageRole, at, found }
  }

  /**
   * Yields each readable candidate, in order, with the hit in it. The hit is undefined if the text does not match, or if `isNeeded` says, just before
   * the text would be read, that it is no longer needed.
   */
  async function* verify(
    all: readonly Candidate[],
    isNeeded?: (candidate: Candidate) => boolean,
  ): AsyncGenerator<readonly [Candidate, FoundDoc | undefined]> {
    for await (const { piece, rowOf } of inPieces(readRows, all, isNeeded))
      for (const candidate of piece) {
        const [trace, message] = [traces.get(candidate.traceId), rowOf(candidate)]
        if (trace && candidate.ordinal === TRACE_ITSELF) yield [candidate, await verifyTrace(trace)]
        else yield [candidate, trace && message && (await verifyMessage(candidate, trace, message))]
        await turn()
      }
  }

  /** The values of the fields of hits. Their texts are not read. */
  const valuesOf = async (all: readonly Key[]): Promise<FoundValues[]> => {
    const messages = await readRows<ValuesRow>('search-values', valuesStatement, keysOf(all))
    const byNth = new Map(messages.map((row) => [row.nth, valuesOfMessage(row)]))
    return all.map(({ traceId }, i) => ({
      traceId,
      values: merged(traces.get(traceId)?.values ?? {}, byNth.get(i + 1) ?? {}),
    }))
  }

  return {
    readable,
    verify,
    verifyTraceItself,
    valuesOf,
    /** The row of a trace of which a candidate was verified. */
    traceOf: (traceId: string): TraceRow | undefined => traces.get(traceId)?.row,
  }
}

export type Verifier = ReturnType<typeof newVerifier>
