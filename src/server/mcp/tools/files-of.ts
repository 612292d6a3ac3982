import { z } from 'zod'
import type { ChangedFile, MadeEdit } from '../../../transcript/changes.ts'
import { newChanges } from '../../../transcript/changes.ts'
import { beneathTrace } from '../../pages/links.ts'
import { visibleLine } from '../../../transcript/visible.ts'
import { answerFields } from '../answer.ts'
import { type Quoter, cutText, newQuoter, quotedWith } from '../quoted.ts'
import { NOT_WHOLE, readAll } from '../read-all.ts'
import { Place, placeOf, sessionArguments } from '../session.ts'
import type { Tool } from '../tool.ts'

const MOST_FILES = 100
const MOST_EDITS = 20
const MOST_PATH = 1_000
const MOST_TEXT = 4 * 1024
/** The most bytes of all edits together: of many edits, less of each text is shown. */
const MOST_BYTES = 64 * 1024

const input = z.object({
  ...sessionArguments,
  path: z.string().min(1).max(4_096).optional().meta({ description: 'Only this file, with each edit of it' }),
  from: z.int().min(0).default(0).meta({ description: 'The number of files, or of edits with `path`, to pass over' }),
})

const count = z.int().min(0)
const path = z.string().optional().meta({ description: 'Absent for edits that do not name their file' })
const message = z.string().meta({ description: 'The id of the message with the call, for read_messages' })
const text = z.string().optional()

const output = z.object({
  about: Place,
  totals: z.object({ files: count, edits: count, failed: count, added: count, removed: count }),
  files: z.array(quotedWith({ path, edits: count, failed: count, added: count, removed: count, message })),
  edits: z
    .array(
      quotedWith({
        path,
        message,
        added: count,
        removed: count,
        failure: text.meta({ description: 'Why the call failed' }),
        before: text,
        after: text,
        content: text,
        patch: text,
      }),
    )
    .meta({ description: 'With `path`: the edits of that file. Long texts are cut; read_messages has them whole' }),
  ...answerFields,
})

const pathOf = (path: string | undefined) => (path === undefined ? {} : { path: cutText(path, 0, MOST_PATH).text })

const fileOf = ({ agent, quote }: Quoter, { path, edits, added, removed }: ChangedFile) => {
  const last = edits.at(-1)!
  const failed = edits.filter(({ failure }) => failure !== undefined).length
  const counts = { edits: edits.length, failed, added, removed }
  return quote('assistant', agent, last.timestamp, { ...pathOf(path), ...counts, message: last.messageId })
}

/** The texts of an edit, each cut to `most` bytes. */
const textsOf = ({ edit }: MadeEdit, most: number) => {
  const cut = (text: string) => cutText(text, 0, most).text
  switch (edit?.is) {
    case 'replacement':
      return { before: cut(edit.before), after: cut(edit.after) }
    case 'content':
      return { content: cut(edit.content) }
    case 'patch':
      return { patch: cut(edit.patch) }
    case 'unknown':
    case undefined:
      return {}
  }
}

const editOf =
  ({ agent, quote }: Quoter, path: string | undefined, most: number) =>
  (made: MadeEdit) => {
    const { messageId, timestamp, added, removed, failure } = made
    const failed = failure === undefined ? {} : { failure }
    return quote('assistant', agent, timestamp, {
      ...pathOf(path),
      message: messageId,
      added,
      removed,
      ...failed,
      ...textsOf(made, most),
    })
  }

/** The note on the files or edits after those that are shown, if there are any. `next` is the number of the first of them. */
const moreOf = (what: 'files' | 'edits', next: number, all: number): string[] =>
  next < all ? [`${all - next} more ${what}: call files_of with from ${next}.`] : []

type Collected = ReturnType<ReturnType<typeof newChanges>['end']>

/** The part of the answer that depends on whether files or the edits of one file are asked for. */
const filesPart = ({ files, changed, edits, failed, added, removed }: Collected, quoter: Quoter, from: number) => {
  const shown = files.slice(from, from + MOST_FILES).map((file) => fileOf(quoter, file))
  return {
    intro: `The session changed ${changed} files in ${edits} edits (+${added} −${removed}); ${failed} edits failed.`,
    more: moreOf('files', from + shown.length, files.length),
    files: shown,
    edits: [],
    quotes: shown,
  }
}

const editsPart = ({ files }: Collected, quoter: Quoter, wanted: string, from: number) => {
  const named = files.filter(({ path }) => path !== undefined && [path, visibleLine(path)].includes(wanted))
  const all = named.flatMap(({ path, edits }) => edits.map((edit) => ({ path, edit })))
  const some = all.slice(from, from + MOST_EDITS)
  const most = Math.min(MOST_TEXT, Math.ceil(MOST_BYTES / (2 * some.length || 1)))
  const shown = some.map(({ path, edit }) => editOf(quoter, path, most)(edit))
  return {
    intro: `The session edited this file ${all.length} times.`,
    more: moreOf('edits', from + shown.length, all.length),
    files: named.map((file) => fileOf(quoter, file)),
    edits: shown,
    quotes: shown,
  }
}

export const filesOf: Tool<typeof input, typeof output> = {
  name: 'files_of',
  title: 'List the files that a session changed',
  description:
    'Lists the files that a session changed, with lines added and removed; with `path` the edits of one of them.',
  input,
  output,
  answer: async (sessions, { session: externalId, namespace, path, from }) => {
    const entry = await sessions.get({ externalId, namespace })
    const collected = newChanges()
    const isWhole = await readAll(sessions, { externalId, namespace: entry.slug }, collected.add)
    const all = collected.end()
    const quoter = newQuoter(entry)
    const { intro, more, files, edits, quotes } =
      path === undefined ? filesPart(all, quoter, from) : editsPart(all, quoter, path, from)
    const { changed, edits: editCount, failed, added, removed, left } = all
    return {
      intro,
      leftOut: [
        ...(isWhole ? [] : [NOT_WHOLE]),
        ...(left > 0 ? [`${left} edits, because there are too many.`] : []),
        ...more,
      ],
      content: {
        about: placeOf(entry),
        totals: { files: changed, edits: editCount, failed, added, removed },
        files,
        edits,
      },
      quotes,
      links: [
        { uri: `${sessions.origin}${beneathTrace(entry.slug, externalId, 'changes')}`, name: 'changes of the session' },
      ],
    }
  },
}
