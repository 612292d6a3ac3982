import { z } from 'zod'
import type { RecordedCommit } from '../../contract/attribution.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import type { ReadTables } from '../../tables/main.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../http/list-page.ts'

type CommitReads = Reads<ReadTables>

/** Which commits of a namespace are listed. */
export type Filter = {
  readonly namespaceId: string
  /** As `host/path`. */
  readonly repository?: string | undefined
  readonly sha?: string | undefined
  /** The id of a trace with lines of the commit. */
  readonly traceId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

type CommitRow = {
  id: string
  repository: string
  sha: string
  at: bigint
  recorded_at: bigint
  recorded_by: string | null
  display_name: string | null
  total: number
  weak: number
  replaced: number
  run: number
  moved: number
  unknown: number
  traces: string
}

/** SQL for the lines of commit `c` by trace, of traces that are there. */
const presentTraces = `
  from commit_traces x cross join lateral (select * from traces r where r.id = x.trace_id limit 1) t
  where x.commit_id = c.id and t.created_at = x.created_at and t.namespace_id = c.namespace_id`

/** SQL for whether another commit with the same patch was recorded later than `c`: then it has taken its place. */
const isReplaced = `exists (
  select from commits o
  where o.namespace_id = c.namespace_id and o.patch = c.patch and o.repository = c.repository and (o.recorded_at, o.id) > (c.recorded_at, c.id)
)`

const conditions = `
  c.namespace_id = $1 and not ${isReplaced}
  and ($2::text is null or c.repository = $2) and ($3::text is null or c.sha = $3)
  and ($4::uuid is null or exists (select ${presentTraces} and t.id = $4::uuid))
  and ($5::int8 is null or c.at >= $5) and ($6::int8 is null or c.at < $6)`

const valuesOf = ({ namespaceId, repository, sha, traceId, from, to }: Filter): unknown[] => [
  namespaceId,
  repository === undefined ? null : JSON.stringify(repository),
  ...[sha ?? null, traceId ?? null, from ?? null, to ?? null],
]

const listed = `
  select c.*, u.display_name, l.traces from commits c
  left join users u on u.id = c.recorded_by
  cross join lateral (
    select coalesce(json_agg(json_build_object(
      'id', t.id, 'externalId', t.external_id, 'replaced', x.replaced, 'run', x.run
    ) order by x.replaced + x.run desc, t.id), '[]') as traces ${presentTraces}
  ) l
  where ${conditions} and ($7::int8 is null or (c.at, c.id) < ($7, $8::uuid))
  order by c.at desc, c.id desc limit $9`

type TraceLines = { id: string; externalId: string; replaced: number; run: number }

const sum = (traces: readonly TraceLines[], evidence: 'replaced' | 'run'): number =>
  traces.reduce((all, one) => all + one[evidence], 0)

/** A commit as it is shown: lines of traces that are gone are unknown. */
const commitOf = (row: CommitRow): RecordedCommit => {
  const traces = JSON.parse(row.traces) as TraceLines[]
  const [replaced, run] = [sum(traces, 'replaced'), sum(traces, 'run')]
  const unknown = row.unknown + (row.replaced - replaced) + (row.run - run)
  return {
    repository: JSON.parse(row.repository) as string,
    sha: row.sha,
    at: Number(row.at),
    recordedAt: Number(row.recorded_at),
    recordedBy: {
      userId: row.recorded_by ?? '',
      ...(row.display_name === null ? {} : { displayName: JSON.parse(row.display_name) as string }),
    },
    lines: { total: row.total, weak: row.weak, replaced, run, moved: row.moved, unknown },
    traces: traces.map(({ id, externalId, ...lines }) => ({ trace: { id, externalId }, lines })),
  }
}

const Keys = z.tuple([z.int(), z.uuid()])

const placeIn = (cursor: string | undefined): z.infer<typeof Keys> | [null, null] => {
  if (cursor === undefined) return [null, null]
  const keys = decodeCursor(cursor, Keys)
  if (!keys) throw invalidCursor()
  return keys
}

type Page = { readonly limit: number; readonly cursor?: string | undefined }

/** A page of the recorded commits, the newest author date first. @throws 400 for a cursor that is not of this list */
export const listCommits = async (reads: CommitReads, filter: Filter, { limit, cursor }: Page) => {
  const values = [...valuesOf(filter), ...placeIn(cursor), limit + 1]
  const rows = await reads.rows<CommitRow & Row>('commits', listed, values)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    commits: rows.slice(0, limit).map(commitOf),
    ...(last ? { nextCursor: encodeCursor(Number(last.at), last.id) } : {}),
  }
}

const counted = `
  select count(*)::int4 as count from commit_traces x
  cross join lateral (select * from commits r where r.id = x.commit_id limit 1) c
  cross join lateral (select * from traces r where r.id = x.trace_id limit 1) t
  where x.trace_id = $1 and t.created_at = x.created_at and t.namespace_id = c.namespace_id and not ${isReplaced}`

/** How many recorded commits have lines of a trace. */
export const countCommits = async (reads: CommitReads, traceId: string): Promise<number> =>
  (await reads.rows<{ count: number }>('commits-count', counted, [traceId]))[0]!.count

const twins = `
  select o.id, o.patch from commits o
  where o.namespace_id = $1 and o.repository = $2 and o.patch = any($3::text[])`

/** The recorded commits of a repository with one of these patches. */
export const commitsWithPatches = (
  reads: CommitReads,
  { namespaceId, repository }: { readonly namespaceId: string; readonly repository: string },
  patches: readonly string[],
): Promise<{ id: string; patch: string }[]> =>
  reads.rows('commits-twins', twins, [namespaceId, JSON.stringify(repository), [...patches]])

const replacedBy = `
  select o.id from unnest($1::uuid[]) u (id) cross join lateral (select * from commits r where r.id = u.id limit 1) c
  join commits o on o.namespace_id = c.namespace_id and o.repository = c.repository and o.patch = c.patch and o.id <> c.id
  where (o.recorded_at, o.id) < (c.recorded_at, c.id)`

/** The commits whose place another one has taken. */
export const commitsReplacedBy = async (reads: CommitReads, id: string): Promise<string[]> =>
  (await reads.rows<{ id: string }>('commits-replaced', replacedBy, [uuids([id])])).map((row) => row.id)
