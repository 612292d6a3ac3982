import { z } from 'zod'
import { PlainNumber, count, id, text, time } from './fields.ts'
import { Key } from './parameters.ts'
import { detailNames, givenTexts, listedNames, shownTexts } from './trace-texts.ts'

/** A trace as requests give it and as answers show it. */

export const Visibility = z.enum(['private', 'direct', 'public']).meta({
  id: 'Visibility',
  description: 'Who may read the trace: `public`: anybody; `private` and `direct`: members of its namespace',
})
export type Visibility = z.infer<typeof Visibility>

export const MessageTypeCounts = z.object({
  user_message: z.int().meta({ description: 'What the user wrote' }),
  agent_context: z.int().meta({ description: 'System messages, and results of tools' }),
  agent_text: z.int().meta({ description: 'What the agent said' }),
  agent_thinking: z.int().meta({ description: 'What the agent thought, and nothing else' }),
  tool_call: z.int().meta({ description: 'Messages of the agent that call a tool' }),
})
export type MessageTypeCounts = z.infer<typeof MessageTypeCounts>

const EXTERNAL_ID = {
  description: 'The id that the client has chosen for the trace, unique in its namespace; 1 to 1,024 characters',
  examples: ['my-first-session'],
}

/** A time that clients give: any number. */
const timestamp = (description: string) => PlainNumber.meta({ description, examples: [1_767_366_245_000] })

/** What every list shows of a trace. */
export const ListedTrace = z.object({
  id: id('the trace'),
  externalId: z.string().meta(EXTERNAL_ID),
  ...shownTexts(listedNames),
  ai_title: text('The title that the service made from the messages').optional(),
  visibility: Visibility,
  createdAt: time('When the service first got the trace'),
  updatedAt: time('When the trace or one of its messages was last written').optional(),
  startedAt: timestamp('When it began: the smallest `timestamp` of its messages; absent where none has one').optional(),
  endedAt: timestamp('When it ended: the largest `timestamp` of its messages; absent where none has one').optional(),
  messageCount: count('How many messages the trace has').optional(),
})
export type ListedTrace = z.infer<typeof ListedTrace>

export const TraceSummary = ListedTrace.extend({ createdBy: id('the user who created the trace') }).meta({
  id: 'TraceSummary',
  description: 'A trace as it stands in lists: one recorded session of an agent',
})
export type TraceSummary = z.infer<typeof TraceSummary>

export const TraceDetail = TraceSummary.extend({
  namespace: z
    .object({ id: id('the namespace'), slug: text('The slug of the namespace; empty when it is not known') })
    .meta({ description: 'The namespace that the trace belongs to' }),
  ...shownTexts(detailNames),
  ai_summary: text('The summary that the service made from the messages').optional(),
  summaryMessageCount: count('How many messages the trace had when its summary was made').optional(),
  messageTypeCounts: MessageTypeCounts.meta({
    description: 'How many messages of each class the trace has; absent while it has none',
  }).optional(),
  toolTypeCounts: z
    .record(z.string(), z.int())
    .meta({
      description:
        'How many calls of each tool the trace has, by the normalised name of the tool; rare ones as `other`',
      examples: [{ bash: 12, edit: 4 }],
    })
    .optional(),
}).meta({ id: 'TraceDetail', description: 'A trace with all that is known of it but its messages' })
export type TraceDetail = z.infer<typeof TraceDetail>

const given = { ...givenTexts, visibility: Visibility.optional() }

const exampleFields = { agentId: 'my-agent', title: 'Mend the login page', model: 'gpt-5', visibility: 'private' }

export const TraceUpsert = z.object(given).meta({
  id: 'TraceUpsert',
  description:
    'What a trace says of itself. What is not given stays as it is; but PUT without `visibility` makes it `private`',
  examples: [exampleFields],
})
export type TraceUpsert = z.infer<typeof TraceUpsert>

export const TraceCreate = z.object({ externalId: Key.meta(EXTERNAL_ID), ...given }).meta({
  id: 'TraceCreate',
  description: 'A trace: its id and what it says of itself',
  examples: [{ externalId: 'my-first-session', ...exampleFields }],
})
