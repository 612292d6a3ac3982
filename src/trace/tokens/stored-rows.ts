import { int4s, uuids } from '../../postgres/arrays.ts'
import { factsColumns } from '../messages/message-facts.ts'
import { columnsOfParts, partsText } from '../messages/stored-parts.ts'
import type { FilteredMessage, FilteredTrace } from './filter-tokens.ts'
import type { StoredMessage } from './message-texts.ts'
import type { SearchedTrace } from './trace-texts.ts'

/** A trace with all that it is found by. */
export type TraceRow = FilteredTrace & SearchedTrace & { id: string; incarnation: bigint; created_at: bigint }

/** The same of a message. */
export type MessageRow = FilteredMessage &
  Omit<StoredMessage, 'role' | 'text'> & {
    trace_id: string
    ordinal: number
    external_id: string
    text_content: string | null
    timestamp: number | null
    created_at: bigint
  }

export const tracesStatement = `
  select t.id, t.incarnation, t.namespace_id, t.created_by, t.created_at, t.visibility, t.agent_id, t.model, t.project_name,
    t.git_branch, t.title, t.ai_title, t.ai_summary
  from unnest($1::uuid[]) u (id) cross join lateral (select * from traces r where r.id = u.id limit 1) t`

export const messagesStatement = `
  select m.ordinal, m.external_id, m.role, m.text_content, m.model, m.tools, m.timestamp, m.created_at, ${factsColumns},
    ${columnsOfParts}, ${partsText} as parts
  from unnest($1::uuid[], $2::int4[]) u (id, ordinal)
  cross join lateral (select r.id, r.incarnation from traces r where r.id = u.id limit 1) t
  cross join lateral (
    select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.ordinal limit 1
  ) m`

/** The values of `tracesStatement`. */
export const tracesValues = (ids: readonly string[]): unknown[] => [uuids(ids)]

/** The values of `messagesStatement`. */
export const messagesValues = (all: readonly { readonly traceId: string; readonly ordinal: number }[]): unknown[] => [
  uuids(all.map(({ traceId }) => traceId)),
  int4s(all.map(({ ordinal }) => ordinal)),
]

export const storedMessage = ({ role, text_content: text, parts }: MessageRow): StoredMessage => ({
  role: role as StoredMessage['role'],
  text,
  parts,
})

const MOST_MS = 8.64e15

/** When a message was written, in milliseconds, as the index has it. */
export const timeOf = (timestamp: number | null, createdAt: bigint): number =>
  timestamp === null ? Number(createdAt) : Math.trunc(Math.max(-MOST_MS, Math.min(timestamp, MOST_MS)))
