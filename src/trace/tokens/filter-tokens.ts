import { factsOfRow, type FactsRow } from '../messages/message-facts.ts'
import { folded } from '../messages/folded.ts'
import type { SearchedText } from './searched-text.ts'

/** The token by which messages with a value of a field are found. No word is like it, because words have no colon. */
export const filterToken = (field: string, value: string): string => `${field}:${folded(value)}`

/** What a trace has of the fields that people filter by. Texts of clients are JSON string literals. */
export type FilteredTrace = {
  readonly namespace_id: string
  readonly created_by: string
  readonly visibility: string
  readonly agent_id: string | null
  readonly model: string | null
  readonly project_name: string | null
  readonly git_branch: string | null
}

/** The same of a message. */
export type FilteredMessage = FactsRow & {
  readonly role: string
  readonly model: string | null
  readonly tools: string
}

/** The values of fields, by field. */
export type FieldValues = Readonly<Record<string, readonly string[]>>

const text = (json: string | null): string[] => (json === null ? [] : [JSON.parse(json) as string])

export const valuesOfTrace = (trace: FilteredTrace): FieldValues => ({
  namespace: [trace.namespace_id],
  author: [trace.created_by],
  is: trace.visibility === 'public' ? ['public'] : [],
  agent: text(trace.agent_id),
  model: text(trace.model),
  project: text(trace.project_name),
  branch: text(trace.git_branch),
})

const isError = (message: FilteredMessage): boolean =>
  factsOfRow(message).facts.some((fact) => fact.is === 'error' || (fact.is === 'result' && fact.hasFailed))

export const valuesOfMessage = (message: FilteredMessage): FieldValues => ({
  role: [message.role],
  model: text(message.model),
  tool: JSON.parse(message.tools) as string[],
  has: isError(message) ? ['error'] : [],
})

export const tokensOfValues = (values: FieldValues): string[] =>
  Object.entries(values).flatMap(([field, all]) => all.map((value) => filterToken(field, value)))

/** That a text is in a place, or a trace's own. */
export const placeToken = ({ place }: Pick<SearchedText, 'place'>): string => filterToken('in', place)
