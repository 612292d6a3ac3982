import type { ReadTables } from '../../../../projections/tables.ts'
import type { Reads, Row } from '../../../../src/engine/reads.ts'
import type { Earlier } from '../../../../src/trace/earlier-deletions.ts'
import type { Conversation, StoredTurn } from '../../../../src/summary/turns.ts'

/** What a summary job has to know of a trace, from the read models. */
export type SummaryHeader = {
  readonly incarnation: bigint
  readonly deletions: number
  readonly messageCount: number
  readonly summarised: number | undefined
}

type HeaderRow = { incarnation: bigint; count: bigint | null; summarised: bigint | null; deletions: string | null }

const headerStatement = `
  select t.incarnation, c.message_count as count, t.summary_message_count as summarised, d.deletions
  from traces t left join counts c on c.trace_id = t.id left join trace_tombstones d on d.id = t.id where t.id = $1`

export const readSummaryHeader = async (reads: Reads<ReadTables>, id: string): Promise<SummaryHeader | undefined> => {
  const [row] = await reads.rows<HeaderRow & Row>('summary-header', headerStatement, [id])
  return (
    row && {
      incarnation: row.incarnation,
      deletions: row.deletions ? (JSON.parse(row.deletions) as Earlier).count : 0,
      messageCount: Number(row.count ?? 0n),
      summarised: row.summarised === null ? undefined : Number(row.summarised),
    }
  )
}

const FIRST_MESSAGES = 4
const LAST_MESSAGES = 6
const MAX_PROMPTS = 100
/** A longer text is no prompt but a paste: it is left out, as is what exceeds this in many parts. */
const MAX_BYTES = 256 * 1024
/** All that is read of a session. What exceeds this are pastes, too: the longest are left out. */
const MAX_SESSION_BYTES = 4 * 1024 * 1024

const partsToRead = `
  parts b where b.trace_id = $1 and b.incarnation = p.incarnation and b.ordinal = p.ordinal
    and split_part(b.head, ' ', 2) = 'text' and pg_column_size(b.body) <= ${MAX_BYTES}`

// Texts and bodies are stored uncompressed: their sizes are known without reading them. Where a text is read, no parts are.
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
  ), weighed as (
    select p.*, m.role, m.tools, m.text_content, h.has_text, l.last_part,
      octet_length(m.tools::text)
        + case when h.has_text then pg_column_size(m.text_content) else coalesce(l.bytes, 0) end as weight
    from chosen p
      cross join lateral (
        select * from messages r where r.trace_id = $1 and r.incarnation = p.incarnation and r.ordinal = p.ordinal limit 1
      ) m
      cross join lateral (select coalesce(pg_column_size(m.text_content) <= ${MAX_BYTES}, false) as has_text) h
      cross join lateral (
        select max(s.position) as last_part, max(s.bytes) as bytes from (
          select b.position, sum(pg_column_size(b.body)) over (order by b.position rows unbounded preceding) as bytes
          from ${partsToRead} and not h.has_text
        ) s where s.bytes <= ${MAX_BYTES}
      ) l
  )
  select p.place, p.role, p.class, case when p.is_read then p.tools else '[]' end as tools,
    case when p.is_read and p.has_text then p.text_content end as text,
    case when p.is_read then (
      select string_agg(b.body::text, ',' order by b.position) from ${partsToRead} and b.position <= p.last_part
    ) end as parts
  from (
    select w.*, sum(w.weight) over (order by w.is_edge desc, w.weight, w.place rows unbounded preceding)
      <= ${MAX_SESSION_BYTES} as is_read
    from weighed w
  ) p order by p.place`

type TurnRow = Omit<StoredTurn, 'place'> & { place: bigint }

/** Reads what a summary of the trace is made of: so many turns and bytes at most, however long the session was. */
export const readConversation = async (
  reads: Reads<ReadTables>,
  id: string,
  messageCount: number,
): Promise<Conversation<StoredTurn>> => {
  const rows = await reads.rows<TurnRow & Row>('summary-turns', turnsStatement, [id])
  return { messageCount, turns: rows.map((row) => ({ ...row, place: Number(row.place) })) }
}
