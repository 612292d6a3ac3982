import stringWidth from 'string-width'
import { escapeControls } from '../../base/escape.ts'
import { exitCodes, UsageError } from '../../cli/exit.ts'
import { fitToColumns } from '../../cli/fit-to-columns.ts'
import { io, widthOf } from '../../cli/io.ts'
import { printDocument, say, writeOut } from '../../cli/output.ts'
import { localTime, shortTime } from '../../cli/time-text.ts'
import type { HistoryClient, TimelineEntry } from '../../client/api/history.ts'
import type { ClientOptions } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { findTrace } from '../support/find-trace.ts'
import { listedEntries, newEntryReader, type ReadPage } from './entries.ts'
import { followEntries, newWaking } from './follow-entries.ts'
import { explaining, openHistory, type Subject } from './history-access.ts'

const [SHORT_TIME, TIME, REVISION, WHO, TRACE] = [19, 29, 6, 16, 36]
/** The actor of entries that no user caused. */
const SERVICE = 'Tracebook'

const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** On a terminal up to this width times and ids are short, and only the sentence names the actor. */
const NARROW = 110
const SHORT_ID = 8

const narrowCells = ({ at, revision, trace, text }: TimelineEntry, namesTrace: boolean): readonly string[] => [
  padded(shortTime(at), SHORT_TIME),
  `@${revision}`,
  ...(namesTrace ? [padded(fitToColumns(trace?.externalId.slice(0, SHORT_ID) ?? '-', SHORT_ID), SHORT_ID)] : []),
  escapeControls(text),
]

/**
 * An entry on one line: time, revision, actor, in a namespace's timeline the trace, and the sentence. The line is cut to `columns`, the
 * width of the terminal; undefined for a pipe or a file.
 */
export const entryLine = (entry: TimelineEntry, namesTrace: boolean, columns: number | undefined): string => {
  if (columns !== undefined && columns <= NARROW)
    return fitToColumns(narrowCells(entry, namesTrace).join('  '), columns)
  const { at, revision, actor, trace, text } = entry
  const cell = (value: string, width: number) =>
    padded(columns === undefined ? escapeControls(value) : fitToColumns(value, width), width)
  const cells = [
    columns === undefined ? padded(localTime(at), TIME) : padded(shortTime(at), SHORT_TIME),
    `@${revision}`.padStart(REVISION),
    cell(actor === undefined ? SERVICE : (actor.displayName ?? actor.userId), WHO),
    ...(namesTrace ? [cell(trace?.externalId ?? '-', TRACE)] : []),
    escapeControls(text),
  ]
  const line = cells.join('  ')
  return columns === undefined ? line : fitToColumns(line, columns)
}

type Options = ClientOptions & {
  readonly type?: string
  readonly actor?: string
  readonly from?: string
  readonly to?: string
  readonly limit?: number
  readonly desc?: boolean
  readonly follow?: boolean
}

/** An answer always has room for this many entries. */
const PAGE = 100

const filtersOf = ({ type, actor, from, to }: Options) => ({
  ...(type === undefined ? {} : { type }),
  ...(actor === undefined ? {} : { actor }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
})

const pagesOf = (history: HistoryClient, { externalId, namespace }: Subject, options: Options): ReadPage => {
  const { limit = PAGE, desc = false, follow = false } = options
  const query = {
    ...filtersOf(options),
    order: desc ? ('desc' as const) : ('asc' as const),
    limit: follow ? PAGE : Math.min(PAGE, limit),
  }
  return (cursor) => {
    const page = cursor === undefined ? query : { ...query, cursor }
    if (externalId === undefined) return history.namespaceEvents(namespace!, page)
    return history.traceEvents(externalId, namespace === undefined ? page : { ...page, namespace })
  }
}

const printerOf =
  (namesTrace: boolean, json: boolean) =>
  (entry: TimelineEntry): Promise<void> =>
    json ? printDocument(entry) : writeOut(`${entryLine(entry, namesTrace, widthOf(io().stdout))}\n`)

/** Shows the newest of the existing entries, at most `most`. */
const showNewest = async (
  entries: AsyncIterable<TimelineEntry>,
  most: number,
  show: (entry: TimelineEntry) => Promise<void>,
) => {
  if (most === Infinity) {
    for await (const entry of entries) await show(entry)
    return
  }
  const newest: TimelineEntry[] = []
  for await (const entry of entries) {
    newest.push(entry)
    if (newest.length > most) newest.shift()
  }
  for (const entry of newest) await show(entry)
}

/** Whose timeline is read: a trace's, or without a name that of a namespace. */
const subjectOf = async (given: Access, name: string | undefined, options: Options) => {
  if (name === undefined) return { access: given, subject: undefined }
  const { access, trace } = await findTrace(given, options, name)
  return { access, subject: { externalId: trace.externalId, namespace: trace.namespace.slug } }
}

const listLog = async (given: Access, name: string | undefined, options: Options): Promise<number> => {
  const { access, subject: trace } = await subjectOf(given, name, options)
  const { history, namespaceSlug } = await openHistory(access)
  const subject: Subject = trace ?? { namespace: namespaceSlug }
  const show = printerOf(name === undefined, options.json ?? false)
  await explaining(access.server, subject, async () => {
    for await (const entry of listedEntries(pagesOf(history, subject, options), options.limit ?? Infinity))
      await show(entry)
  })
  return exitCodes.ok
}

const sayLost = () =>
  say(
    'The entries shown last no longer exist: they were deleted, or the service has lost them, for example with a restored backup. ' +
      'Only new entries are shown from now on.',
  )

const followLog = async (given: Access, name: string | undefined, options: Options): Promise<never> => {
  const { access, subject: trace } = await subjectOf(given, name, options)
  const waking = newWaking(say)
  const { token, history, namespaceSlug } = await openHistory(access, {
    asNamespace: true,
    timing: waking.timing,
  })
  const subject: Subject = trace ?? { namespace: namespaceSlug }
  const show = printerOf(name === undefined, options.json ?? false)
  const read = newEntryReader(pagesOf(history, subject, options), sayLost)
  return explaining(access.server, subject, async () => {
    await showNewest(read(), options.limit ?? Infinity, show)
    const close = waking.listen({ server: access.server, token, externalId: trace?.externalId })
    return followEntries({ read, show, waking, say }).finally(close)
  })
}

export const showLog = async (access: Access, options: Options, name: string | undefined): Promise<number> => {
  if (!options.follow) return listLog(access, name, options)
  if (options.desc || options.to !== undefined)
    throw new UsageError('--follow continues with new entries: leave out --desc and --to.')
  // There is nothing to complete; requests in flight are abandoned.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  return followLog(access, name, options)
}
