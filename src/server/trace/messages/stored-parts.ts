import { inBlock } from '../../../tables/main.ts'

/*
 * SQL for the parts of a message `m`, a row of `messages`. The original parts are in a block of several messages (`message_blocks`), one after
 * the other as answers show them; parts that were changed later are rows of `message_parts`. Blocks are stored uncompressed, so that PostgreSQL
 * reads only the bytes that a query asks for.
 */

const blockOf = 'b.trace_id = m.trace_id and b.incarnation = m.incarnation and b.revision = m.block'
const block = `message_blocks b where ${blockOf}`

const changed = (upTo: string) => `
  message_parts c where c.trace_id = m.trace_id and c.incarnation = m.incarnation and c.ordinal = m.ordinal and c.position < ${upTo}`

/** SQL for the text in some bytes of a block. */
const cut = (from: string, length: string) =>
  `convert_from(substring(b.body from (${from})::int4 + 1 for (${length})::int4), 'UTF8')`

/** SQL for the number of original parts of the message. */
const originalCount = `((m.parts_at - m.heads_at + 1) / ${inBlock.head})`

/** SQL for the heads of the first `count` parts in the block, separated by commas. */
const headsUpTo = (count: string) =>
  cut('m.heads_at', `greatest(least(${count}, ${originalCount}) * ${inBlock.head} - 1, 0)`)

/** SQL for the place in the block where the text of a part ends. */
const endOf = (position: string) =>
  `(m.parts_at + ${cut(`m.heads_at + (${position}) * ${inBlock.head}`, String(inBlock.end))}::int4)`

const startOf = (position: string) =>
  `case when ${position} = 0 then m.parts_at else ${endOf(`${position} - 1`)} + 1 end`

/** SQL for the texts of the parts of the block from one position up to another (exclusive), with their commas; null for none. */
const run = (from: string, to: string) => `
  case when ${from} < least(${to}, ${originalCount})
    then ${cut(startOf(from), `${endOf(`least(${to}, ${originalCount}) - 1`)} - ${startOf(from)}`)} end`

// Joins for each changed part the unchanged parts before it and the part itself, and at last the unchanged parts at the end. So a message of
// thousands of parts, of which few were changed, takes few steps.
const changedText = `
  select string_agg(nullif(concat_ws(',', ${run('c.before + 1', 'c.position')}, c.body), ''), ',' order by c.position) from (
    select c.position, c.body, lag(c.position, 1, -1) over (order by c.position) as before from (
      select c.position, c.body from ${changed('m.part_count')} union all select m.part_count, null
    ) c
  ) c`

/** The columns of `m` that `partsText` needs besides its ordinal. */
export const columnsOfParts =
  'm.trace_id, m.incarnation, m.part_count, m.added, m.revision, m.block, m.heads_at, m.parts_at, m.parts_end'

/** SQL for the bodies of all parts, joined by commas. */
export const partsText = `
  case when m.part_count = 0 then null
    when m.revision = m.added then (select ${cut('m.parts_at', 'm.parts_end - m.parts_at')} from ${block})
    else (select (${changedText}) from ${block}) end`

/** SQL for the approximate number of characters of all parts. */
export const partsLength = `
  case when m.parts_head <> '' then m.parts_length
    else m.parts_end - m.parts_at + coalesce((select sum(octet_length(c.body)) from ${changed('m.part_count')}), 0) end`

const present = `
  select coalesce(c.position, h.position) as position, coalesce(c.head, substr(h.head, ${inBlock.end + 2})) as head,
    coalesce(pg_column_size(c.body), h.end - h.start) as size, c.body, h.start
  from (
    select h.position, h.head, h.end, lag(h.end + 1, 1, m.parts_at) over (order by h.position) as start from (
      select h.nth::int4 - 1 as position, h.head, m.parts_at + left(h.head, ${inBlock.end})::int4 as end
      from string_to_table(${headsUpTo('m.part_count')}, ',') with ordinality h (head, nth)
    ) h
  ) h full join (select c.position, c.head, c.body from ${changed('m.part_count')}) c on c.position = h.position`

/**
 * SQL for the present parts of `m`: rows `p` with `position`, `head`, and `size`, the bytes of the part's text; conditions may be added. `text`
 * is the text of such a row.
 */
export const eachPart = {
  from: `message_blocks b cross join lateral (${present}) p where ${blockOf}`,
  text: `coalesce(p.body, ${cut('p.start', 'p.size')})`,
} as const

/** SQL for the heads of the first `count` parts, as `headLinesIn` reads them: those in the block, and those of changed parts. */
export const partHeads = (count: string): string => `
  (select ${headsUpTo(`least(${count}, m.part_count)`)} from ${block}) as heads,
  case when m.revision <> m.added then (
    select string_agg(c.position || ' ' || c.head, ',') from ${changed(`least(${count}, m.part_count)`)}
  ) end as changed`

export type PartHeadsRow = { heads: string; changed: string | null }

/** The lines of the heads of a message's first parts. */
export const headLinesIn = ({ heads, changed }: PartHeadsRow): string[] => {
  const lines = heads === '' ? [] : heads.split(',').map((head) => head.slice(inBlock.end + 1))
  for (const one of changed?.split(',') ?? []) {
    const at = one.indexOf(' ')
    lines[Number(one.slice(0, at))] = one.slice(at + 1)
  }
  return lines
}
