import { z } from 'zod'
import { count, text } from './fields.ts'
import { Slug, aTime } from './parameters.ts'
import { type Api, data } from './route.ts'
import { Cost, UsageSums } from './usage.ts'
import { TimeZone } from './time-zone.ts'

/** What the messages of a namespace have used. */

/** By what the rows are told apart. */
export const usageKeys = ['day', 'agent', 'model', 'project', 'author', 'tool'] as const
export type UsageKey = (typeof usageKeys)[number]

const DAY_AND = /^day,/

const By = z
  .string()
  .refine((text) => (usageKeys as readonly string[]).includes(text.replace(DAY_AND, '')) && text !== 'day,day', {
    error: `must be one of ${usageKeys.join(', ')}, or day, and another one of them, such as day,model`,
  })
  .meta({
    description:
      'By what the rows are told apart: `day`, `agent`, `model`, `project`, `author` or `tool`; or `day,` and another one of them. Default: `day`',
    examples: ['model'],
  })
  .transform((text) => ({ key: text.replace(DAY_AND, '') as UsageKey, isDaily: DAY_AND.test(text) }))

/** The longest period, in days, and the most rows of an answer. */
export const MOST_DAYS = 800
export const MOST_ROWS = 10_000

const date = (description: string) => text(description, '2026-01-02')

export const UsageRow = z
  .object({
    day: date('The date; only in rows by day and something else').optional(),
    key: text(
      'The date, or the id of the agent, the model, the name of the project, the id of the user, or the tool; absent where there is none, and ' +
        'for those who may not see the others in a row of other authors',
      'gpt-5',
    ).optional(),
    displayName: text('The name of the author; only by `author`').optional(),
    traces: count('Traces with a message that counts'),
    messages: count('Messages that count; by `tool` those that call the tool'),
    usage: UsageSums.optional(),
    cost: Cost.optional(),
  })
  .meta({
    id: 'UsageRow',
    description: 'What messages have used together. A row by `tool` has neither `usage` nor `cost`',
  })
export type UsageRow = z.infer<typeof UsageRow>

export const NamespaceUsage = z.object({
  rows: z.array(UsageRow).meta({ description: 'The rows, by day and then by key; the one without a key comes last' }),
})
export type NamespaceUsage = z.infer<typeof NamespaceUsage>

export const namespaceUsage = {
  'GET /v1/namespaces/{slug}/usage': {
    tag: 'namespaces',
    summary: 'Add up what the messages of a namespace have used and cost',
    description:
      'Members see the messages of all traces of the namespace. A message counts on the date of its `timestamp`, or of its arrival. An answer of ' +
      'a provider that several traces of an agent have, because one was resumed or forked, counts once: for the trace that had it first. By ' +
      '`author` a member sees the own row, and all others as one row without a key; admins see everybody.',
    auth: 'required',
    path: { slug: Slug },
    query: {
      by: By.optional(),
      from: aTime('The beginning, extended to a whole quarter of an hour. Default: 30 days before `to`', [
        '2026-01-01T00:00:00Z',
      ]).optional(),
      to: aTime('The end, which is not part of it, extended to a whole quarter of an hour. Default: now', [
        '2026-02-01T00:00:00Z',
      ]).optional(),
      tz: TimeZone.optional(),
    },
    answer: data(NamespaceUsage),
    errors: {
      invalid_request:
        `\`by\`, \`from\`, \`to\` or \`tz\` is not valid, the period is longer than ${MOST_DAYS} days, or there would be more than ` +
        `${MOST_ROWS} rows. Ask for a shorter period, or by something else.`,
      forbidden: 'You are no member of the namespace. Ask an admin for an invite.',
      not_found: 'There is no such namespace.',
    },
  },
} as const satisfies Api
