import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { Earlier } from '../trace/earlier-deletions.ts'
import { eachPart } from '../trace/messages/stored-parts.ts'
import type { Conversation, StoredTurn } from './turns.ts'

/** The state of a trace in the read models, for a summary job. */
type SummaryHeader = {
  readonly incarnation: bigint
  readonly deletions: number
  /** The revision at which the trace begins, if its past was erased. */
  readonly since: number | undefined
  readonly messageCount: number
  readonly summarised: number | undefined
}

type HeaderRow = {
  incarnation: bigint
  erased: bigint | null
  count: bigint | null
  summarised: bigint | null
  deletions: string | null
}

const headerStatement = `
  select t.incarnation, t.erased, c.message_count as count, t.summary_message_count as summarised, d.deletions
  from traces t left join counts c on c.trace_id = t.id left join trace_tombstones d on d.id = t.id where t.id = $1`

export const readSummaryHeader = async (reads: Reads<ReadTables>, id: string): Promise<SummaryHeader | undefined> => {
  const [row] = await reads.rows<HeaderRow & Row>('summary-header', headerStatement, [id])
  return (
    row && {
      incarnation: row.incarnation,
      deletions: row.deletions ? (JSON.parse(row.deletions) as Earlier).count : 0,
      since: row.erased === null ? undefined : Number(row.incarnation),
      messageCount: Number(row.count ?? 0n),
      summarised: row.summarised === null ? undefined : Number(row.summarised),
    }
  )
}

const FIRST_MESSAGES = 4
const LAST_MESSAGES = 6
const MAX_PROMPTS = 100
/** A longer text is not a prompt but a paste, and left out, as are parts beyond this size. */
const MAX_BYTES = 256 * 1024
/** The maximum that is read of a session. Beyond it the longest texts are left out, which are pastes, too. */
const MAX_SESSION_BYTES = 4 * 1024 * 1024

const isRead = `split_part(p.head, ' ', 2) = 'text' and p.size <= ${MAX_BYTES}`

// Texts and bodies are stored uncompressed, so their sizes are known without reading them. If a text is read, its parts are not.
export const turnsStatement = `
  with placed as materialized (
    select m.incarnation, m.ordinal, m.class, count(*) over () as total, row_number() over listed as place,
      count(*) filter (where m.class = 'user_message') over listed as prompts
    from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation where t.id = $1
    window listed as (
      order by m.sequence nulls last, m.timestamp nulls last, m.ordinal rows unbounded preceding
    )
  ), chosen as (
    select * from (
      select p.*, p.place <= ${FIRST_MESSAGES} or p.place > p.total - ${LAST_MESSAGES}
        or p.place = coalesce((select max(place) from placed where class = 'agent_text'), 0) as is_edge
      from placed p
    ) p where p.is_edge or (p.class = 'user_message' and p.prompts <= ${MAX_PROMPTS})
  ), sized as (
    select p.place, p.is_edge, m.*, h.has_text, l.last_part,
      octet_length(m.tools::text)
        + case when h.has_text then pg_column_size(m.text_content) else coalesce(l.bytes, 0) end as size
    from chosen p
      cross join lateral (
        select r.* from messages r where r.trace_id = $1 and r.incarnation = p.incarnation and r.ordinal = p.ordinal limit 1
      ) m
      cross join lateral (select coalesce(pg_column_size(m.text_content) <= ${MAX_BYTES}, false) as has_text) h
      cross join lateral (
        select max(s.position) as last_part, max(s.bytes) as bytes from (
          select p.position, sum(p.size) over (order by p.position rows unbounded preceding) as bytes
          from ${eachPart.from} and not h.has_text and ${isRead}
        ) s where s.bytes <= ${MAX_BYTES}
      ) l
  )
  select m.place, m.role, m.class, case when m.is_read then m.tools else '[]' end as tools,
    case when m.is_read and m.has_text then m.text_content end as text,
    case when m.is_read then (
      select string_agg(${eachPart.text}, ',' order by p.position) from ${eachPart.from}
        and ${isRead} and p.position <= m.last_part
    ) end as parts
  from (
    select w.*, sum(w.size) over (order by w.is_edge desc, w.size, w.place rows unbounded preceding)
      <= ${MAX_SESSION_BYTES} as is_read
    from sized w
  ) m order by m.place`

type TurnRow = Omit<StoredTurn, 'place'> & { place: bigint }

/** Reads the turns that a summary of the trace is made from. Their number and size are limited, however long the session was. */
export const readConversation = async (
  reads: Reads<ReadTables>,
  id: string,
  messageCount: number,
): Promise<Conversation<StoredTurn>> => {
  const rows = await reads.rows<TurnRow & Row>('summary-turns', turnsStatement, [id])
  return { messageCount, turns: rows.map((row) => ({ ...row, place: Number(row.place) })) }
}
