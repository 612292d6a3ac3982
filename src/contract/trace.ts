import { z } from 'zod'
import { PlainNumber, count, id, text, time } from './fields.ts'
import { Key } from './parameters.ts'
import { Cost, UsageSums } from './usage.ts'
import { detailNames, givenTexts, listedNames, shownTexts } from './trace-texts.ts'

/** A trace, in requests and in answers. */

export const Visibility = z.enum(['private', 'direct', 'public']).meta({
  id: 'Visibility',
  description: 'Who may read the trace. `public`: anybody; `private` and `direct`: members of its namespace',
})
export type Visibility = z.infer<typeof Visibility>

export const MessageTypeCounts = z.object({
  user_message: z.int().meta({ description: 'Messages that the user wrote' }),
  agent_context: z.int().meta({ description: 'System messages, and messages that hold only results of tools' }),
  agent_text: z.int().meta({ description: 'Messages of the agent with text, without calls of tools' }),
  agent_thinking: z.int().meta({ description: 'Messages of the agent with thinking only' }),
  tool_call: z.int().meta({ description: 'Messages of the agent that call a tool' }),
})
export type MessageTypeCounts = z.infer<typeof MessageTypeCounts>

const EXTERNAL_ID = {
  description: 'The id that the client has chosen for the trace, unique in its namespace; 1 to 1,024 characters',
  examples: ['my-first-session'],
}

/** A time that clients give; the service takes any number. */
const timestamp = (description: string) =>
  PlainNumber.meta({ description: `${description}, in milliseconds since 1970`, examples: [1_767_366_245_000] })

export const SessionShape = z
  .object({
    prompts: z.int().meta({ description: 'Messages of the user with a text of their own, not only results of tools' }),
    calls: z.int().meta({ description: 'Calls of tools' }),
    failed: z.int().meta({
      description:
        'Calls that failed: the first result after the call with its `callId` is an error, or the call has no result and an error follows it in its message',
    }),
    files: z.int().meta({
      description:
        'Different paths of files that calls changed, without failed calls; at most 200 of one call and 4,096 in all are counted',
    }),
    added: z.int().meta({ description: 'Lines that these calls added' }),
    removed: z.int().meta({ description: 'Lines that these calls removed' }),
    segments: z
      .array(
        z.tuple([
          z.int().meta({ description: 'Calls' }),
          z.int().meta({ description: 'Calls that changed files' }),
          z.int().meta({ description: 'Calls that failed' }),
        ]),
      )
      .max(64)
      .meta({
        description:
          'The calls after each prompt, in list order. With more than 64 prompts, neighbouring prompts share a segment, evenly. ' +
          'Calls before the first prompt are in the first segment; without a prompt there is no segment',
      }),
  })
  .meta({
    id: 'SessionShape',
    description:
      'The session in numbers. Changed files and lines are counted from the arguments of the edit, write and patch tools of the known agents; ' +
      'lines that these arguments do not contain are not counted, such as the lines that a file had before a tool overwrote it',
    examples: [
      {
        prompts: 2,
        calls: 9,
        failed: 1,
        files: 2,
        added: 31,
        removed: 4,
        segments: [
          [6, 2, 1],
          [3, 1, 0],
        ],
      },
    ],
  })
export type SessionShape = z.infer<typeof SessionShape>

/** What every list shows of a trace. */
export const ListedTrace = z.object({
  id: id('the trace'),
  externalId: z.string().meta(EXTERNAL_ID),
  ...shownTexts(listedNames),
  ai_title: text('The title that the service has made from the messages').optional(),
  visibility: Visibility,
  createdAt: time('When the service first got the trace'),
  updatedAt: time('When the trace or one of its messages was last written').optional(),
  startedAt: timestamp(
    'When the session started: the smallest `timestamp` of its messages (absent if none has one)',
  ).optional(),
  endedAt: timestamp(
    'When the session ended: the largest `timestamp` of its messages (absent if none has one)',
  ).optional(),
  messageCount: count('The number of messages of the trace').optional(),
  childCount: count(
    'The number of its sub-agents that you may read, at most 100; only in lists without sub-agents (`children=false`)',
  ).optional(),
  shape: SessionShape.optional(),
  usage: UsageSums.optional(),
  cost: Cost.optional(),
})
export type ListedTrace = z.infer<typeof ListedTrace>

export const TraceSummary = ListedTrace.extend({ createdBy: id('the user who created the trace') }).meta({
  id: 'TraceSummary',
  description: 'A trace, as lists show it: one recorded session of an agent',
})
export type TraceSummary = z.infer<typeof TraceSummary>

export const TraceDetail = TraceSummary.extend({
  namespace: z
    .object({ id: id('the namespace'), slug: text('The slug of the namespace; empty if not known') })
    .meta({ description: 'The namespace that the trace belongs to' }),
  ...shownTexts(detailNames),
  ai_summary: text('The summary that the service has made from the messages').optional(),
  summaryMessageCount: count('The number of messages of the trace when its summary was made').optional(),
  messageTypeCounts: MessageTypeCounts.meta({
    description: 'The number of messages by class; absent while the trace has no messages',
  }).optional(),
  toolTypeCounts: z
    .record(z.string(), z.int())
    .meta({
      description: 'The number of calls by the normalised name of the tool; rarely used tools count as `other`',
      examples: [{ bash: 12, edit: 4 }],
    })
    .optional(),
}).meta({ id: 'TraceDetail', description: 'A trace with all its fields, without its messages' })
export type TraceDetail = z.infer<typeof TraceDetail>

const given = { ...givenTexts, visibility: Visibility.optional() }

const exampleFields = { agentId: 'my-agent', title: 'Mend the login page', model: 'gpt-5', visibility: 'private' }

export const TraceUpsert = z.object(given).meta({
  id: 'TraceUpsert',
  description:
    'The fields of a trace. Fields that the body does not have keep their values, but PUT without `visibility` makes the trace `private`',
  examples: [exampleFields],
})
export type TraceUpsert = z.infer<typeof TraceUpsert>

export const TraceCreate = z.object({ externalId: Key.meta(EXTERNAL_ID), ...given }).meta({
  id: 'TraceCreate',
  description: 'A trace: its id and its fields',
  examples: [{ externalId: 'my-first-session', ...exampleFields }],
})
