import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Earlier } from '../trace/earlier.ts'
import type { MessageClass } from '../trace/events.ts'
import type { MessageRole } from '../trace/part.ts'

/** One message of a session, as far as a summary needs it. */
export type Turn = {
  /** Its place among all messages, from 1. */
  readonly place: number
  readonly role: MessageRole
  readonly class: MessageClass
  readonly text: string
  /** The normalised names of its tool calls. */
  readonly tools: readonly string[]
}

/** The beginning, the prompts and the end of a session, in order. */
export type Conversation = { readonly messageCount: number; readonly turns: readonly Turn[] }

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
/** A longer text is no prompt but a paste: it is left out, and memory stays small. */
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
      select string_agg(b.body::text, ',' order by b.position) from parts b
      where b.trace_id = $1 and b.incarnation = p.incarnation and b.ordinal = p.ordinal and b.type = 'text'
        and octet_length(b.body::text) <= ${MAX_BYTES}
    ) as parts
  from chosen c join placed p on p.place = c.place
    join messages m on m.trace_id = $1 and m.incarnation = p.incarnation and m.ordinal = p.ordinal
  order by p.place`

type TurnRow = {
  place: bigint
  role: MessageRole
  class: MessageClass
  tools: string
  text: string | null
  parts: string | null
}

const textOf = ({ text, parts }: TurnRow): string => {
  if (text !== null) return JSON.parse(text) as string
  const bodies = JSON.parse(`[${parts ?? ''}]`) as { content?: { text?: string } }[]
  return bodies.map(({ content }) => content?.text ?? '').join('\n')
}

/** Reads what a summary of the trace is made of; bounded, however long the session was. */
export const readConversation = async (
  reads: Reads<ReadTables>,
  id: string,
  messageCount: number,
): Promise<Conversation> => {
  const rows = await reads.rows<TurnRow & Row>('summary-turns', turnsStatement, [id])
  const turns = rows.map((row): Turn => {
    const { role, class: kind, tools } = row
    return { place: Number(row.place), role, class: kind, text: textOf(row), tools: JSON.parse(tools) as string[] }
  })
  return { messageCount, turns }
}
