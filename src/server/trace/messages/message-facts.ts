import type { MessageFacts } from '../shape.ts'
import { MOST_FACTS, factsIn, factsOf } from './facts.ts'
import type { MessageDocument } from './message.ts'
import { isBlank } from './part.ts'

/** The columns of a message from which its facts are read. */
export type FactsRow = {
  is_of_user: boolean
  has_text: boolean
  facts: string | null
  changed: string | null
  part_count: number
}

/** SQL for the columns of a `FactsRow` of message `m`. Parts beyond `part_count` were removed. */
export const factsColumns = `
  m.role = 'user' as is_of_user, coalesce(split_part(m.text_head, ' ', 2) = 'text', false) as has_text, m.facts, m.part_count,
  case when m.revision <> m.added then (
    select left(string_agg(c.position || coalesce(c.fact, ''), ' ' order by c.position), ${MOST_FACTS}) from message_parts c
    where c.trace_id = m.trace_id and c.incarnation = m.incarnation and c.ordinal = m.ordinal and c.position < m.part_count
  ) end as changed`

/** The facts of a message from its row. */
export const factsOfRow = (row: FactsRow): MessageFacts => ({
  isOfUser: row.is_of_user,
  hasText: row.has_text,
  facts: factsOf(row.facts, row.changed, row.part_count),
})

type Message = Pick<MessageDocument, 'role' | 'parts'> & { readonly textContent?: string | undefined }

/** The facts of a message from the message itself. */
export const factsOfMessage = (message: Message): MessageFacts => ({
  isOfUser: message.role === 'user',
  hasText: !isBlank(message.textContent),
  facts: factsIn(message.parts.map(({ fact }) => fact)),
})
