import { z } from 'zod'
import type { ChangedFile, MadeEdit } from '../../../transcript/changes.ts'
import { newChanges } from '../../../transcript/changes.ts'
import { visibleLine } from '../../../transcript/visible.ts'
import { beneathTrace } from '../../pages/links.ts'
import { MOST_OTHERWISE, answerFields, fitting } from '../answer.ts'
import { beginning, cutText, fields, ofSession, quotesWith, timeOf } from '../quoted.ts'
import { NOT_WHOLE, readAll } from '../read-all.ts'
import { sessionArguments } from '../session.ts'
import type { Entry, Sessions } from '../sessions.ts'
import type { Tool } from '../tool.ts'

/** How many files or edits are shown, and the most bytes of each text of an edit. */
type Level = { readonly files: number; readonly edits: number; readonly text: number }

const LEVELS: readonly Level[] = [
  { files: 100, edits: 20, text: 4_096 },
  { files: 80, edits: 20, text: 2_000 },
  { files: 65, edits: 20, text: 1_000 },
  { files: 50, edits: 20, text: 500 },
  { files: 40, edits: 20, text: 250 },
  { files: 30, edits: 16, text: 200 },
  { files: 20, edits: 12, text: 200 },
  { files: 10, edits: 8, text: 200 },
  { files: 5, edits: 4, text: 200 },
  { files: 1, edits: 1, text: 200 },
]
const MOST_PATH = 1_000

const input = z.object({
  ...sessionArguments,
  path: z.string().min(1).max(4_096).optional().meta({ description: 'Only this file, with each edit of it' }),
  from: z.int().min(0).default(0).meta({ description: 'The number of files, or of edits with `path`, to pass over' }),
})

const { session, namespace, author, agent, role, time, message } = fields
const count = z.int().min(0)
const path = z.string().optional().meta({ description: 'Absent for edits that do not name their file' })
const text = z.string().optional()

const output = z.object({
  ...answerFields,
  totals: z.object({ files: count, edits: count, failed: count, added: count, removed: count }),
  quotes: quotesWith({
    ...{ session, namespace, author, agent, role },
    files: z.array(z.object({ path, edits: count, failed: count, added: count, removed: count, time, message })),
    edits: z
      .array(
        z.object({
          ...{ message, time, added: count, removed: count },
          failure: text.meta({ description: 'Why the call failed' }),
          before: text,
          after: text,
          content: text,
          patch: text,
        }),
      )
      .optional()
      .meta({ description: 'With `path`: the edits of that file. Long texts are cut; read_messages has them whole' }),
  }),
})

const fileOf = (entry: Entry, { path, edits, added, removed }: ChangedFile) => {
  const last = edits.at(-1)!
  return {
    ...(path === undefined ? {} : { path: cutText(path, 0, MOST_PATH).text }),
    edits: edits.length,
    failed: edits.filter(({ failure }) => failure !== undefined).length,
    added,
    removed,
    time: timeOf(entry, last.timestamp),
    message: last.messageId,
  }
}

/** The texts of an edit, each cut to `most` bytes. */
const textsOf = ({ edit }: MadeEdit, most: number) => {
  switch (edit?.is) {
    case 'replacement':
      return { before: beginning(edit.before, most), after: beginning(edit.after, most) }
    case 'content':
      return { content: beginning(edit.content, most) }
    case 'patch':
      return { patch: beginning(edit.patch, most) }
    case 'unknown':
    case undefined:
      return {}
  }
}

const editOf = (entry: Entry, made: MadeEdit, most: number) => ({
  message: made.messageId,
  time: timeOf(entry, made.timestamp),
  added: made.added,
  removed: made.removed,
  ...(made.failure === undefined ? {} : { failure: beginning(made.failure, most) }),
  ...textsOf(made, most),
})

/** The note on the files or edits after those that are shown, if there are any. `next` is the number of the first of them. */
const moreOf = (what: 'files' | 'edits', next: number, all: number): string[] =>
  next < all ? [`${all - next} more ${what}: call files_of with from ${next}.`] : []

type Changes = ReturnType<ReturnType<typeof newChanges>['end']>
/** What was asked for: all files, or the edits of one of them. */
type Asked = { readonly path?: string | undefined; readonly from: number }

/** The part of the answer that depends on whether files or the edits of one file are asked for. */
const filesPart = (
  entry: Entry,
  { files, changed, edits, failed, added, removed }: Changes,
  from: number,
  { files: most }: Level,
) => {
  const shown = files.slice(from, from + most).map((file) => fileOf(entry, file))
  return {
    intro: `The session changed ${changed} files in ${edits} edits (+${added} −${removed}); ${failed} edits failed.`,
    more: moreOf('files', from + shown.length, files.length),
    lists: { files: shown },
  }
}

const editsPart = (entry: Entry, { files }: Changes, wanted: string, from: number, { edits: most, text }: Level) => {
  const named = files.filter(({ path }) => path !== undefined && [path, visibleLine(path)].includes(wanted))
  const all = named.flatMap(({ edits }) => edits)
  const shown = all.slice(from, from + most).map((edit) => editOf(entry, edit, text))
  return {
    intro: `The session edited this file ${all.length} times.`,
    more: moreOf('edits', from + shown.length, all.length),
    lists: { files: named.map((file) => fileOf(entry, file)), edits: shown },
  }
}

const answerOf = (
  sessions: Sessions,
  entry: Entry,
  { all, isWhole }: { readonly all: Changes; readonly isWhole: boolean },
  { path, from }: Asked,
  level: Level,
) => {
  const { intro, more, lists } =
    path === undefined ? filesPart(entry, all, from, level) : editsPart(entry, all, path, from, level)
  const { changed, edits, failed, added, removed, left } = all
  const changesPage = `${sessions.origin}${beneathTrace(entry.slug, entry.trace.externalId, 'changes')}`
  return {
    intro,
    leftOut: [
      ...(isWhole ? [] : [NOT_WHOLE]),
      ...(left > 0 ? [`${left} edits, because there are too many.`] : []),
      ...more,
    ],
    content: {
      totals: { files: changed, edits, failed, added, removed },
      quotes: { quoted: true as const, ...ofSession(entry), role: 'assistant' as const, ...lists },
    },
    links: [{ uri: changesPage, name: 'changes of the session' }],
  }
}

export const filesOf: Tool<typeof input, typeof output> = {
  name: 'files_of',
  title: 'List the files that a session changed',
  description:
    'Lists the files that a session changed, with lines added and removed; with `path` the edits of one of them.',
  input,
  output,
  answer: async (sessions, { session: externalId, namespace, ...asked }) => {
    const entry = await sessions.get({ externalId, namespace })
    const collected = newChanges()
    const isWhole = await readAll(sessions, { externalId, namespace: entry.slug }, collected.add)
    const read = { all: collected.end(), isWhole }
    return fitting(LEVELS, MOST_OTHERWISE, (level) => answerOf(sessions, entry, read, asked, level))
  },
}
