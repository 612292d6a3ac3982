import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Earlier } from '../trace/earlier.ts'
import type { Conversation, StoredTurn } from './turns.ts'

/** What a summary starts from: the trace as the read models show it. */
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

export const summaryHeader = async (reads: Reads<ReadTables>, id: string): Promise<SummaryHeader | undefined> => {
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

const FIRST = 4
const LAST = 6
const PROMPTS = 100
/** A longer text is no prompt but a paste: it is left out, as is what exceeds this in many parts. */
const MAX_BYTES = 256 * 1024

const turnsStatement = `
  with placed as (
    select m.incarnation, m.ordinal, m.class, count(*) over () as total,
      row_number() over (order by m.sequence nulls last, m.timestamp nulls last, m.ordinal) as place
    from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation where t.id = $1
  ), prompts as (
    select place, row_number() over (order by place) as number from placed where class = 'user_message'
  ), chosen as (
    select place from placed where place <= ${FIRST} or place > total - ${LAST}
    union select place from prompts where number <= ${PROMPTS}
    union select max(place) from placed where class = 'agent_text'
  )
  select p.place, m.role, m.class, m.tools,
    case when octet_length(m.text_content::text) <= ${MAX_BYTES} then m.text_content end as text, (
      select string_agg(b.body, ',' order by b.position) from (
        select b.body::text as body, b.position,
          sum(octet_length(b.body::text)) over (order by b.position rows unbounded preceding) as bytes
        from parts b where b.trace_id = $1 and b.incarnation = p.incarnation and b.ordinal = p.ordinal
          and b.type = 'text' and octet_length(b.body::text) <= ${MAX_BYTES}
      ) b where b.bytes <= ${MAX_BYTES}
    ) as parts
  from chosen c join placed p on p.place = c.place
    join messages m on m.trace_id = $1 and m.incarnation = p.incarnation and m.ordinal = p.ordinal
  order by p.place`

type TurnRow = Omit<StoredTurn, 'place'> & { place: bigint }

/** Reads what a summary of the trace is made of; bounded, however long the session was. */
export const readConversation = async (
  reads: Reads<ReadTables>,
  id: string,
  messageCount: number,
): Promise<Conversation<StoredTurn>> => {
  const rows = await reads.rows<TurnRow & Row>('summary-turns', turnsStatement, [id])
  return { messageCount, turns: rows.map((row) => ({ ...row, place: Number(row.place) })) }
}
