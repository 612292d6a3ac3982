import { io } from '../../cli/io.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printDocument, say, writeOut } from '../../cli/output.ts'
import type { HistoryClient, TimelineEntry } from '../../sync/api/history.ts'
import type { Access } from '../support/access.ts'
import { findTrace } from '../support/find-trace.ts'
import { type ReadPage, listedEntries, newEntryReader } from './entries.ts'
import { entryLine } from './entry-line.ts'
import { followEntries, newWaking } from './follow-entries.ts'
import { type Subject, explaining, openHistory } from './history-access.ts'
import type { ClientOptions } from '../declared/command.ts'

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
    json ? printDocument(entry) : writeOut(`${entryLine(entry, namesTrace, io().stdout.columns)}\n`)

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
