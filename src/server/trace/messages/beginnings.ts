import type { ReadTables } from '../../../tables/main.ts'
import { messageId } from '../../../base/ids.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import { int4s } from '../../../eventstore/postgres/arrays.ts'
import { eachPart } from './stored-parts.ts'

/** How many characters of a JSON text are read: enough for a line. */
const MOST = 1_200

/** A message with the beginning of its text, or, if that is blank, of its first part with a text. Both are JSON. */
type BeginningRow = {
  readonly ordinal: number
  readonly external_id: string
  readonly text: string | null
  readonly part: Buffer | null
}

/** SQL: whether the head of a text or a part says that it is a text that is not blank. */
const isText = (head: string) => `split_part(${head}, ' ', 2) = 'text'`

// The part is returned as bytes, because it is cut between bytes and not between characters.
const beginning = `m.ordinal, m.external_id, case when ${isText('m.text_head')} then left(m.text_content, ${MOST}) end as text,
  case when ${isText('m.text_head')} then null else (
    select coalesce(convert_to(left(p.body, ${MOST}), 'UTF8'), substring(b.body from p.start + 1 for least(p.size, ${2 * MOST})))
    from ${eachPart.from} and ${isText('p.head')} order by p.position limit 1
  ) end as part`

const beginningsStatement = `
  select ${beginning} from unnest($3::int4[]) k (ordinal) cross join lateral (
    select * from messages m where m.trace_id = $1 and m.incarnation = $2 and m.ordinal = k.ordinal limit 1
  ) m`

const beginningStatement = `
  select ${beginning} from messages m where m.trace_id = $1 and m.incarnation = $2 and m.id = $3`

/** How many characters of JSON stand for the character at an index of a string: `\u00e9` has six, `\n` two. */
const lengthAt = (json: string, at: number): number => {
  if (json[at] !== '\\') return 1
  return json[at + 1] === 'u' ? 6 : 2
}

/** Reads the JSON text of a string that may have been cut anywhere. */
export const readCutString = (json: string): string => {
  let end = 1
  while (end < json.length && json[end] !== '"') {
    const length = lengthAt(json, end)
    if (end + length > json.length) break
    end += length
  }
  return JSON.parse(`${json.slice(0, end)}"`) as string
}

const textOf = ({ text, part }: BeginningRow): string => {
  if (text !== null) return readCutString(text)
  const json = part?.toString().replace(/\ufffd$/, '') ?? ''
  const found = /"text":(?=")/.exec(json)
  return found ? readCutString(json.slice(found.index + found[0].length)) : ''
}

/** The beginning of a message: some hundred characters of its text. */
export type Beginning = { readonly id: string; readonly text: string }

type TraceReads = Pick<Reads<ReadTables>, 'rows'>
type TraceIncarnation = { readonly id: string; readonly incarnation: bigint }

/** The beginnings of messages of a trace, by their ordinals. Messages that do not exist any more are left out. */
export const beginningsOf = async (
  reads: TraceReads,
  { id, incarnation }: TraceIncarnation,
  ordinals: readonly number[],
): Promise<ReadonlyMap<number, Beginning>> => {
  const values = [id, incarnation, int4s([...ordinals])]
  const rows = await reads.rows<BeginningRow & Row>('message-beginnings', beginningsStatement, values)
  return new Map(rows.map((row) => [row.ordinal, { id: row.external_id, text: textOf(row) }]))
}

/** The beginning of a message; empty if it does not exist any more. */
export const beginningOf = async (reads: TraceReads, { id, incarnation }: TraceIncarnation, externalId: string) => {
  const values = [id, incarnation, messageId(id, externalId)]
  const [row] = await reads.rows<BeginningRow & Row>('message-beginning', beginningStatement, values)
  return row ? textOf(row) : ''
}
