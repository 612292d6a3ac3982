import type { Visibility } from '../../../contract/trace.ts'
import { factsOfRow, type FactsRow } from '../messages/message-facts.ts'
import { comparable } from '../../../base/folded.ts'
import type { SearchedText } from './searched-text.ts'

/** The token of a field's value. No word equals it, because words have no colon. */
export const filterToken = (field: string, value: string): string => `${field}:${comparable(value)}`

/** The columns of a trace by which searches filter. Free text is a JSON string literal. */
export type FilteredTrace = {
  readonly namespace_id: string
  readonly created_by: string
  readonly visibility: Visibility
  readonly agent_id: string | null
  readonly model: string | null
  readonly project_name: string | null
  readonly git_branch: string | null
}

/** The columns of a message by which searches filter. */
export type FilteredMessage = FactsRow & {
  readonly role: string
  readonly model: string | null
  readonly tools: string
}

/** Values by the name of their field. */
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

/** The token of the place of a text, which is a message's, or the trace itself. */
export const placeToken = ({ place }: Pick<SearchedText, 'place'>): string => filterToken('in', place)
