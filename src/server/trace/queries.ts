import { z } from 'zod'
import { type ReadTables, columnOf } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../http/list-page.ts'
import { keyHash, traceId } from '../../base/ids.ts'
import type { Role } from '../../contract/namespaces.ts'
import { idOfSlug } from '../namespace/queries.ts'
import type { Visibility } from '../../contract/trace.ts'
import { listedNames } from '../../contract/trace-texts.ts'
import type { UserRole } from './policy.ts'
import type { KnownModels } from '../models/registry.ts'
import { usageTexts, usedByTrace } from '../usage/sums.ts'
import type { DetailRow, OfMessages } from './views.ts'

/** The one trace that an externalId names for a caller, with the caller's role in its namespace. */
export type ResolvedTrace = {
  readonly id: string
  readonly namespaceId: string
  readonly createdBy: string
  readonly visibility: Visibility
  readonly role: Role | undefined
}

export type ResolvedRow = {
  id: string
  namespace_id: string
  created_by: string
  visibility: Visibility
  role: Role | null
}

const columns = 't.id, t.namespace_id, t.created_by, t.visibility'

// `external_id` is compared after the oldest trace was found: with that condition inside, the planner might choose to read all.
const oldest = (condition: string) => `
  select id, namespace_id, created_by, visibility, null::text as role from (
    select * from traces where key = $3 and visibility ${condition} order by created_at, id limit 1
  ) o where external_id = $4`

// In this order: the trace of the session's namespace, whose id is computed from the name; the oldest one in the caller's other
// namespaces, public or not; the oldest public one; the oldest of all. Any number of namespaces may have a trace of that name: the
// limits ensure that no plan reads all of them.
export const resolveStatement = `
  with own as (
    select ${columns}, m.role from traces t left join members m on m.namespace_id = t.namespace_id and m.user_id = $2
    where t.id = $1
  ), mine as (
    select t.*, m.role from members m cross join lateral (
      select ${columns}, t.created_at from traces t
      where t.key = $3 and t.namespace_id = m.namespace_id and t.external_id = $4 limit 1
    ) t
    where m.user_id = $2 and not exists (select from own)
    order by t.created_at, t.id limit 1
  ), nearest as (
    select id, namespace_id, created_by, visibility, role from own
    union all select id, namespace_id, created_by, visibility, role from mine
  ), of_others as (
    ${oldest(`= 'public'`)} and not exists (select from nearest)
  )
  select * from nearest union all select * from of_others union all
  ${oldest(`<> 'public'`)} and not exists (select from nearest) and not exists (select from of_others)`

type TraceReads = Reads<ReadTables>

/** The parameters of `resolveStatement`: the id that is looked up first, the user, and the key and the name by which other traces are looked up. */
export type NamedBy = readonly [
  own: string | null,
  userId: string | null,
  key: string | null,
  externalId: string | null,
]

/**
 * The trace that an `externalId` names: in the namespace with this slug, if one is given, otherwise as `resolveStatement` says.
 * @throws 404 for a text that is not a slug
 */
export const namedBy = (externalId: string, caller: Caller | undefined, slug?: string): NamedBy => {
  const userId = caller?.userId ?? null
  if (slug !== undefined) return [traceId(idOfSlug(slug), externalId), userId, null, null]
  const own = caller?.namespace ? traceId(caller.namespace.id, externalId) : null
  return [own, userId, keyHash(externalId), externalId]
}

/** A row of `resolveStatement`. @throws InQuarantine */
export const resolvedOf = (
  { assertNotQuarantined }: Pick<TraceReads, 'assertNotQuarantined'>,
  { id, namespace_id, created_by, visibility, role }: ResolvedRow,
): ResolvedTrace => {
  assertNotQuarantined(`trace-${id}`, `namespace-${namespace_id}`)
  return { id, namespaceId: namespace_id, createdBy: created_by, visibility, role: role ?? undefined }
}

/** The trace that an externalId names (`namedBy`). @throws 404 for a text that is not a slug; InQuarantine */
export const resolveTrace = async (
  reads: TraceReads,
  externalId: string,
  caller: Caller | undefined,
  slug?: string,
): Promise<ResolvedTrace | undefined> => {
  const named = namedBy(externalId, caller, slug)
  if (named[0]) reads.assertNotQuarantined(`trace-${named[0]}`)
  const [row] = await reads.rows<ResolvedRow & Row>('trace-resolve', resolveStatement, named)
  return row && resolvedOf(reads, row)
}

/** The caller as the policies need it for a trace. */
export const userRoleOf = (caller: Caller | undefined, resolved: { role: Role | undefined }): UserRole | undefined =>
  caller && { userId: caller.userId, role: resolved.role }

/** A detail, with the columns that a list of messages needs: its approximate size, and the incarnation and revision of the trace. */
export type StoredDetail = DetailRow & { bytes: bigint; incarnation: bigint; erased: bigint | null; revision: bigint }

export const detailStatement = `
  select t.*, c.message_count, c.message_types, c.tool_types, c.shape, ${usedByTrace} as used, n.slug
  from traces t left join counts c on c.trace_id = t.id left join namespaces n on n.id = t.namespace_id where t.id = $1`

export const traceDetail = async (reads: TraceReads, id: string): Promise<StoredDetail | undefined> =>
  (await reads.rows<StoredDetail & Row>('trace-detail', detailStatement, [id]))[0]

const ofMessagesStatement = `
  select t.started_at, t.ended_at, t.model, c.shape, ${usedByTrace} as used from traces t left join counts c on c.trace_id = t.id where t.id = $1`

type OfMessagesRow = Pick<ReadTables['traces'], 'started_at' | 'ended_at' | 'model'> &
  Pick<ReadTables['counts'], 'shape'> & { used: string | null }

/** What answers show of the messages of a trace, which the state for decisions does not have. */
export const ofMessages = async (reads: TraceReads, id: string, models: KnownModels): Promise<OfMessages> => {
  const [row] = await reads.rows<OfMessagesRow & Row>('trace-of-messages', ofMessagesStatement, [id])
  return {
    ...(row?.used ? usageTexts(row.used, row.model, models) : {}),
    startedAt: row?.started_at ?? undefined,
    endedAt: row?.ended_at ?? undefined,
    shape: row?.shape ?? undefined,
  }
}

const slugStatement = 'select slug from namespaces where id = $1'

/** The slug of a namespace; empty if there is no such namespace. */
export const slugOf = async (reads: TraceReads, namespaceId: string): Promise<string> =>
  (await reads.rows<{ slug: string }>('namespace-slug', slugStatement, [namespaceId]))[0]?.slug ?? ''

const Keys = z.tuple([z.int(), z.uuid()])

/** The creation time and id of the trace after which a page begins. */
export type After = { readonly createdAt: number; readonly id: string }

/** @throws 400 for an invalid cursor */
export const afterOf = (cursor: string | undefined): After | undefined => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, Keys)
  if (!keys) throw invalidCursor()
  return { createdAt: keys[0], id: keys[1] }
}

export const cursorAfter = (row: { created_at: bigint; id: string }): string =>
  encodeCursor(Number(row.created_at), row.id)

const listedTexts = listedNames.map((name) => `t.${columnOf[name]}`).join(', ')

export const summaryColumns = `t.id, t.external_id, ${listedTexts}, t.ai_title, t.visibility,
  t.created_at, t.created_by, t.updated_at, t.started_at, t.ended_at, c.message_count, c.shape, ${usedByTrace} as used`

/** SQL for the size of the long texts in a summary, in bytes: of those that may have more than `SHORT_TEXT` characters. */
export const summarySize = `octet_length(t.external_id) + coalesce(octet_length(t.title::text), 0)
  + coalesce(octet_length(t.ai_title::text), 0) + coalesce(octet_length(t.parent_external_id::text), 0)
  + coalesce(octet_length(c.shape::text), 0)`

/** SQL for the order of lists of traces by their creation. */
export const NEWEST_FIRST = 'created_at desc, id desc'
/**
 * SQL that joins the rows for a list to the ids in `f`. With a plain join, a plan that was made when the tables were empty may read
 * all traces for each id.
 */
export const summaryTables = `
  cross join lateral (select * from traces r where r.id = f.id limit 1) t
  left join lateral (select r.message_count, r.shape from counts r where r.trace_id = f.id limit 1) c on true`

/** The place before the first trace of a list. */
export const FAR_FUTURE: After = { createdAt: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
