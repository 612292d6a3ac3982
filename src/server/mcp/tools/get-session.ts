import { z } from 'zod'
import type { TraceDetail } from '../../../contract/trace.ts'
import { beneathTrace } from '../../pages/links.ts'
import { answerFields } from '../answer.ts'
import { newOutline } from '../outline.ts'
import { type Quoter, cutText, nameText, newQuoter, quotedWith } from '../quoted.ts'
import { NOT_WHOLE, readAll } from '../read-all.ts'
import { Session, linkOf, sessionArguments, sessionOf, spoken } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

const MOST_LISTED = { prompts: 50, tools: 30, files: 50, errors: 20 }
const MOST_TEXT = 300

const input = z.object({
  ...sessionArguments,
  fromPrompt: z.int().min(1).default(1).meta({ description: 'The number of the first prompt that is listed' }),
})

const message = z.string().meta({ description: 'The id of the message, for read_messages' })
const count = z.int().min(0)

const output = z.object({
  session: Session,
  totals: z.object({ prompts: count, calls: count, failed: count, files: count }),
  prompts: z.array(quotedWith({ message, number: z.int(), text: z.string(), calls: count, failed: count })),
  tools: z.array(quotedWith({ tool: z.string(), calls: count, failed: count })),
  files: z.array(quotedWith({ path: z.string(), edits: count, added: count, removed: count })),
  errors: z.array(quotedWith({ message, tool: z.string().optional(), text: z.string() })),
  ...answerFields,
})

type Outline = ReturnType<ReturnType<typeof newOutline>['end']>

const beginning = (text: string): string => cutText(text, 0, MOST_TEXT).text

const promptsOf = ({ prompts }: Outline, { quoteMessage }: Quoter, from: number) =>
  prompts
    .slice(from - 1, from - 1 + MOST_LISTED.prompts)
    .map(({ messageId, time, number, text, calls, failed }) =>
      quoteMessage('user', time, { message: messageId, number, text: beginning(text), calls, failed }),
    )

const toolsOf = ({ tools }: Outline, { agent, quote }: Quoter) =>
  [...tools]
    .sort(([, a], [, b]) => b.calls - a.calls)
    .slice(0, MOST_LISTED.tools)
    .map(([name, { calls, failed, time }]) => quote('assistant', agent, time, { tool: nameText(name), calls, failed }))

const filesOf = ({ changes }: Outline, { agent, quote }: Quoter) =>
  changes.files
    .flatMap(({ path, edits, added, removed }) => (path === undefined ? [] : [{ path, edits, added, removed }]))
    .slice(0, MOST_LISTED.files)
    .map(({ path, edits, added, removed }) =>
      quote('assistant', agent, edits.at(-1)?.timestamp, {
        path: beginning(path),
        edits: edits.length,
        added,
        removed,
      }),
    )

const errorsOf = ({ failures }: Outline, { quote }: Quoter) =>
  failures.slice(0, MOST_LISTED.errors).map(({ messageId, time, tool, text }) =>
    quote('tool', tool ?? 'agent', time, {
      message: messageId,
      ...(tool === undefined ? {} : { tool: nameText(tool) }),
      text: beginning(text),
    }),
  )

/** What the answer leaves out, and which call has it. */
const leftOutOf = ({ counts, tools, changes }: Outline, from: number, isWhole: boolean): string[] => {
  const next = from + MOST_LISTED.prompts
  const files = changes.files.filter(({ path }) => path !== undefined).length
  return [
    ...(isWhole ? [] : [NOT_WHOLE]),
    ...(counts.prompts >= next ? [`prompts from number ${next} on: call get_session with fromPrompt ${next}.`] : []),
    ...(tools.size > MOST_LISTED.tools ? [`${tools.size - MOST_LISTED.tools} tools that were called less.`] : []),
    ...(files > MOST_LISTED.files ? [`${files - MOST_LISTED.files} files: files_of has them.`] : []),
    ...(counts.failed > MOST_LISTED.errors
      ? [`${counts.failed - MOST_LISTED.errors} later errors: read_messages has them.`]
      : []),
    'the texts of messages: read_messages has them.',
  ]
}

const outlineOf = async (sessions: Sessions, entry: Entry<TraceDetail>) => {
  const outline = newOutline()
  const name = { externalId: entry.trace.externalId, namespace: entry.slug }
  const isWhole = await readAll(sessions, name, outline.add)
  return { isWhole, outline: outline.end() }
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
    const { outline, isWhole } = await outlineOf(sessions, entry)
    const quoter = newQuoter(entry)
    const { counts, changes } = outline
    const totals = { ...counts, files: changes.changed }
    const session = sessionOf(sessions, entry)
    const [prompts, errors] = [promptsOf(outline, quoter, fromPrompt), errorsOf(outline, quoter)]
    const [tools, files] = [toolsOf(outline, quoter), filesOf(outline, quoter)]
    const changesPage = `${sessions.origin}${beneathTrace(entry.slug, entry.trace.externalId, 'changes')}`
    return {
      intro:
        `A session of ${session.messages} messages, ${totals.prompts} prompts, ${totals.calls} calls of tools ` +
        `(${totals.failed} failures and errors), ${totals.files} files changed.`,
      leftOut: leftOutOf(outline, fromPrompt, isWhole),
      content: { session, totals, prompts, tools, files, errors },
      quotes: [spoken(session), ...prompts, ...errors, ...files, ...tools],
      links: [
        { uri: linkOf(sessions, entry), name: 'session' },
        ...(files.length > 0 ? [{ uri: changesPage, name: 'changes of the session' }] : []),
      ],
    }
  },
}
