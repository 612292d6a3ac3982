import { z } from 'zod'
import type { TraceDetail } from '../../../contract/trace.ts'
import { beneathTrace } from '../../pages/links.ts'
import { MOST_OTHERWISE, answerFields, fitting } from '../answer.ts'
import { newOutline } from '../outline.ts'
import { beginning, fields, nameText, quotesWith, timeOf } from '../quoted.ts'
import { NOT_WHOLE, readAll } from '../read-all.ts'
import { type Lengths, linkOf, sessionArguments, sessionFields, sessionOf } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

/** How many of each are listed, and the most bytes of their texts. Paths are not cut as long as these, because files_of takes them. */
type Level = Lengths & {
  readonly prompts: number
  readonly errors: number
  readonly files: number
  readonly tools: number
  readonly text: number
}

const LEVELS: readonly Level[] = [
  { prompts: 50, errors: 20, files: 50, tools: 30, text: 300, name: 400, summary: 2_000 },
  { prompts: 40, errors: 15, files: 40, tools: 25, text: 240, name: 400, summary: 1_000 },
  { prompts: 30, errors: 12, files: 30, tools: 20, text: 200, name: 300, summary: 800 },
  { prompts: 24, errors: 9, files: 22, tools: 15, text: 160, name: 300, summary: 600 },
  { prompts: 16, errors: 6, files: 15, tools: 12, text: 120, name: 200, summary: 400 },
  { prompts: 10, errors: 3, files: 8, tools: 8, text: 100, name: 120, summary: 200 },
  { prompts: 2, errors: 0, files: 1, tools: 2, text: 80, name: 80, summary: 0 },
]
const MOST_PATH = 300

const input = z.object({
  ...sessionArguments,
  fromPrompt: z.int().min(1).default(1).meta({ description: 'The number of the first prompt that is listed' }),
})

const { message, role, time } = fields
const count = z.int().min(0)

const output = z.object({
  ...answerFields,
  totals: z.object({ prompts: count, calls: count, failed: count, files: count }),
  quotes: quotesWith({
    ...sessionFields,
    prompts: z
      .array(z.object({ role, time, message, number: z.int(), text: z.string(), calls: count, failed: count }))
      .meta({ description: 'Each with the calls that followed it' }),
    errors: z.array(z.object({ role, time, message, tool: z.string().optional(), text: z.string() })),
    files: z.array(z.object({ path: z.string(), edits: count, added: count, removed: count })),
    tools: z.array(z.object({ tool: z.string(), calls: count, failed: count })),
  }),
})

type Outline = ReturnType<ReturnType<typeof newOutline>['end']>

const promptsOf = ({ prompts }: Outline, entry: Entry, from: number, { prompts: most, text: length }: Level) =>
  prompts.slice(from - 1, from - 1 + most).map(({ messageId, time, number, text, calls, failed }) => ({
    role: 'user' as const,
    time: timeOf(entry, time),
    message: messageId,
    number,
    text: beginning(text, length),
    calls,
    failed,
  }))

const errorsOf = ({ failures }: Outline, entry: Entry, { errors: most, text: length }: Level) =>
  failures.slice(0, most).map(({ messageId, time, tool, text }) => ({
    role: 'tool' as const,
    time: timeOf(entry, time),
    message: messageId,
    ...(tool === undefined ? {} : { tool: nameText(tool) }),
    text: beginning(text, length),
  }))

const namedFiles = ({ changes }: Outline) =>
  changes.files.flatMap(({ path, edits, added, removed }) =>
    path === undefined ? [] : [{ path: beginning(path, MOST_PATH), edits: edits.length, added, removed }],
  )

const toolsOf = ({ tools }: Outline, { tools: most }: Level) =>
  [...tools]
    .sort(([, a], [, b]) => b.calls - a.calls)
    .slice(0, most)
    .map(([name, { calls, failed }]) => ({ tool: nameText(name), calls, failed }))

/** What the answer leaves out, and which call has it. */
const leftOutOf = (outline: Outline, from: number, level: Level, isWhole: boolean): string[] => {
  const { counts, tools } = outline
  const next = from + level.prompts
  const files = namedFiles(outline).length
  return [
    ...(isWhole ? [] : [NOT_WHOLE]),
    ...(counts.prompts >= next ? [`prompts from number ${next} on: call get_session with fromPrompt ${next}.`] : []),
    ...(tools.size > level.tools ? [`${tools.size - level.tools} tools that were called less.`] : []),
    ...(files > level.files ? [`${files - level.files} files: files_of has them.`] : []),
    ...(counts.failed > level.errors ? [`${counts.failed - level.errors} later errors: read_messages has them.`] : []),
    'the texts of messages: read_messages has them.',
  ]
}

const outlineOf = async (sessions: Sessions, entry: Entry<TraceDetail>) => {
  const outline = newOutline()
  const name = { externalId: entry.trace.externalId, namespace: entry.slug }
  const isWhole = await readAll(sessions, name, outline.add)
  return { isWhole, outline: outline.end() }
}

const introOf = ({ messages }: { readonly messages: number }, { counts, changes }: Outline): string =>
  `A session of ${messages} messages, ${counts.prompts} prompts, ${counts.calls} calls of tools ` +
  `(${counts.failed} failures and errors), ${changes.changed} files changed.`

const answerOf = (
  sessions: Sessions,
  entry: Entry<TraceDetail>,
  { outline, isWhole }: { readonly outline: Outline; readonly isWhole: boolean },
  from: number,
  level: Level,
) => {
  const session = sessionOf(entry, level)
  const files = namedFiles(outline).slice(0, level.files)
  const changesPage = `${sessions.origin}${beneathTrace(entry.slug, entry.trace.externalId, 'changes')}`
  return {
    intro: introOf(session, outline),
    leftOut: leftOutOf(outline, from, level, isWhole),
    content: {
      totals: { ...outline.counts, files: outline.changes.changed },
      quotes: {
        quoted: true as const,
        role: 'description' as const,
        ...session,
        prompts: promptsOf(outline, entry, from, level),
        errors: errorsOf(outline, entry, level),
        files,
        tools: toolsOf(outline, level),
      },
    },
    links: [
      { uri: linkOf(sessions, entry), name: 'session' },
      ...(files.length > 0 ? [{ uri: changesPage, name: 'changes of the session' }] : []),
    ],
  }
}

export const getSession: Tool<typeof input, typeof output> = {
  name: 'get_session',
  title: 'Get the outline of a session',
  description:
    'Gets the outline of a session: its prompts, the tools that were called, the files that were changed, and the errors.',
  input,
  output,
  answer: async (sessions, { session: externalId, namespace, fromPrompt }) => {
    const entry = await sessions.get({ externalId, namespace })
    const read = await outlineOf(sessions, entry)
    return fitting(LEVELS, MOST_OTHERWISE, (level) => answerOf(sessions, entry, read, fromPrompt, level))
  },
}
