import { Command } from 'commander'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printDocument, say } from '../../cli/output.ts'
import { writeOut } from '../../cli/standard-output.ts'
import { entryTypes } from '../../history/entry-types.ts'
import type { HistoryClient, TimelineEntry } from '../../sync/api/history.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { type ReadPage, listedEntries, newEntryReader } from './entries.ts'
import { entryLine } from './entry-line.ts'
import { followEntries, newWaking } from './follow-entries.ts'
import { type Subject, explaining, openHistory } from './history-access.ts'
import { wholeNumber } from './whole-number.ts'

const TYPES_A_LINE = 5

const typesText = (): string =>
  Array.from({ length: Math.ceil(entryTypes.length / TYPES_A_LINE) }, (_, line) =>
    entryTypes.slice(line * TYPES_A_LINE, (line + 1) * TYPES_A_LINE).join(', '),
  ).join(',\n  ')

const help: Help = {
  about: `
Who did what, and when, on one line each: of a trace for the members of its namespace, without an
externalId of the whole namespace, deleted traces included, for its admins. The oldest comes first.

A line: time, revision, who, in the log of a namespace the trace ("-": the namespace itself), and what
happened. The revision is what "tracebook audit show" and "diff" take. A time is ISO 8601 with a zone, or
milliseconds since 1970; --from is included, --to is not.

--follow shows what is there, with --limit the newest so many, and then each entry as it comes, until
Ctrl-C. A lost connection is made again, and nothing is missed or shown twice.

Types: ${typesText()}`,
  examples: [
    ['tracebook audit log'],
    ['tracebook audit log --type TraceDeleted,MemberRemoved --from 2026-01-01T00:00:00Z'],
    ['tracebook audit log 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --desc --limit 20'],
    ['tracebook audit log 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b --follow --json'],
  ],
  documents: [
    [
      '{"revision","type","at","actor"?,"text","trace"?,"messages"?,"patch"?,"requestId"?,…}',
      'an entry, as the API shows it (TimelineEntry); at: milliseconds since 1970',
    ],
  ],
  exitCodes: {
    0: 'listed, or ended by Ctrl-C',
    1: 'the server refused',
    2: 'wrong usage, not logged in, or logged out meanwhile',
  },
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

/** As many as one answer always has room for. */
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
    json ? printDocument(entry) : writeOut(`${entryLine(entry, namesTrace, process.stdout.columns)}\n`)

/** Shows the last so many of what is there. */
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

/** Whose timeline is asked for: without an externalId that of the namespace, of the login where none is named. */
const subjectOf = (externalId: string | undefined, { namespace }: Options, namespaceSlug: string): Subject => ({
  externalId,
  namespace: externalId === undefined || namespace !== undefined ? namespaceSlug : undefined,
})

const listLog = async (access: Access, externalId: string | undefined, options: Options): Promise<number> => {
  const { history, namespaceSlug } = await openHistory(access)
  const subject = subjectOf(externalId, options, namespaceSlug)
  const show = printerOf(externalId === undefined, options.json ?? false)
  await explaining(access.server, subject, async () => {
    for await (const entry of listedEntries(pagesOf(history, subject, options), options.limit ?? Infinity))
      await show(entry)
  })
  return exitCodes.ok
}

const followLog = async (access: Access, externalId: string | undefined, options: Options): Promise<never> => {
  const waking = newWaking(say)
  const { token, history, namespaceSlug } = await openHistory(access, {
    asNamespace: true,
    timing: waking.timing,
  })
  const subject = subjectOf(externalId, options, namespaceSlug)
  const show = printerOf(externalId === undefined, options.json ?? false)
  const read = newEntryReader(pagesOf(history, subject, options))
  return explaining(access.server, subject, async () => {
    await showNewest(read(), options.limit ?? Infinity, show)
    const close = waking.listen({ server: access.server, token, externalId })
    return followEntries({ read, show, waking, say }).finally(close)
  })
}

const showLog = async (access: Access, options: Options, externalId: string | undefined): Promise<number> => {
  if (!options.follow) return listLog(access, externalId, options)
  if (options.desc || options.to !== undefined)
    throw new UsageError('--follow goes on with what comes: leave out --desc and --to')
  // Nothing is left to do: also a request that waits for its answer is given up.
  const leave = () => process.exit(exitCodes.ok)
  process.once('SIGINT', leave).once('SIGTERM', leave)
  return followLog(access, externalId, options)
}

/** `tracebook audit log` */
export const auditLogCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('log')
      .description('List or follow who did what to a trace or in a namespace')
      .argument('[externalId]', 'the trace (default: all of the namespace, for its admins)')
      .option('--type <types>', 'only entries of these types, separated by commas')
      .option('--actor <user>', 'only what the user with this id did')
      .option('--from <time>', 'only what happened at this time or later')
      .option('--to <time>', 'only what happened before this time')
      .option('--limit <count>', 'at most so many entries', wholeNumber)
      .option('--desc', 'the newest first')
      .option('-f, --follow', 'go on with what comes'),
    { help, namespace: 'the namespace (default: that of your login)', run: showLog },
  )
