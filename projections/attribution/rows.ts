import type { WriteStatement } from '../../src/eventstore/engine/projection.ts'
import { int4s, int8s, uuids } from '../../src/eventstore/postgres/arrays.ts'
import { shownFilesTable, writtenFilesTable } from '../../src/tables/attribution.ts'
import type { Key } from './stored-messages.ts'

/** A row of `written_files`. */
export type WrittenRow = Key & {
  readonly incarnation: bigint
  readonly nth: number
  readonly file: number
  readonly at: number
  readonly identity: bigint
  readonly whole: bigint | undefined
  readonly path: string
  readonly written: readonly bigint[]
  readonly replaced: readonly bigint[]
}

const written = writtenFilesTable.unnest<WrittenRow>({
  trace_id: ({ traceId }) => traceId,
  incarnation: ({ incarnation }) => incarnation,
  ordinal: ({ ordinal }) => ordinal,
  nth: ({ nth }) => nth,
  file: ({ file }) => file,
  at: ({ at }) => at,
  identity: ({ identity }) => identity,
  whole: ({ whole }) => whole,
  path: ({ path }) => JSON.stringify(path),
})

/** Arrays of different lengths as one array, with the index where each begins and ends. */
const joined = (arrays: readonly (readonly bigint[])[]): unknown[] => {
  let end = 0
  const ends = arrays.map(({ length }) => (end += length))
  return [int8s(arrays.flat()), int4s(ends.map((_, i) => (ends[i - 1] ?? 0) + 1)), int4s(ends)]
}

const parameter = (n: number) => `$${written.count + n}`
const slice = (first: number) => `(${parameter(first)}::int8[])[u.from_${first}:u.to_${first}]`
const bounds = (first: number) => `
  unnest(${parameter(first + 1)}::int4[]) as from_${first}, unnest(${parameter(first + 2)}::int4[]) as to_${first}`

const insertWritten = `
  insert into written_files (${written.columns}, written, replaced)
  select ${written.columns}, ${slice(1)}, ${slice(4)} from (
    ${written.as('w').slice(1, -3)}, ${bounds(1)}, ${bounds(4)}
  ) u`

export const writeWritten = (rows: readonly WrittenRow[], write: WriteStatement): void => {
  if (rows.length === 0) return
  const arrays = [...joined(rows.map((row) => row.written)), ...joined(rows.map(({ replaced }) => replaced))]
  write('attribution-written', insertWritten, [...written.values(rows), ...arrays])
}

/** A row of `shown_files`. */
export type ShownRow = Key & { readonly nth: number; readonly path: bigint; readonly call: bigint }

const shown = shownFilesTable.unnest<ShownRow>({
  trace_id: ({ traceId }) => traceId,
  path: ({ path }) => path,
  ordinal: ({ ordinal }) => ordinal,
  nth: ({ nth }) => nth,
  call: ({ call }) => call,
})

export const writeShown = (rows: readonly ShownRow[], write: WriteStatement): void => {
  if (rows.length > 0) write('attribution-shown', shown.insert, shown.values(rows))
}

const keysOf = (keys: readonly Key[]): unknown[] => [
  uuids(keys.map(({ traceId }) => traceId)),
  int4s(keys.map(({ ordinal }) => ordinal)),
]

const removeFrom = (table: string) => `
  delete from ${table} d using unnest($1::uuid[], $2::int4[]) u (trace_id, ordinal)
  where d.trace_id = u.trace_id and d.ordinal = u.ordinal`

export const removeWritten = (keys: readonly Key[], write: WriteStatement): void => {
  if (keys.length > 0) write('attribution-rewrite', removeFrom('written_files'), keysOf(keys))
}

export const removeShown = (keys: readonly Key[], write: WriteStatement): void => {
  if (keys.length > 0) write('attribution-reshow', removeFrom('shown_files'), keysOf(keys))
}

const tables = ['written_files', 'shown_files'] as const

/** Removes all rows of traces. */
export const removeTraces = (ids: readonly string[], write: WriteStatement): void => {
  if (ids.length === 0) return
  for (const table of tables)
    write(`attribution-remove-${table}`, `delete from ${table} where trace_id = any($1::uuid[])`, [uuids(ids)])
}
