import { io, widthOf } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import { type Column, tableLines } from '../cli/table.ts'
import { MOST_CHILDREN } from '../base/sub-agents.ts'
import { costText, tokenCounts, tokensText } from '../base/usage-text.ts'
import { AHEAD, isAhead, timeOrArrival } from '../base/time-ahead.ts'
import { type ListedTrace, type Sort, newTracesClient } from '../client/api/traces.ts'
import { newNamespacesClient } from '../client/api/namespaces.ts'
import { rememberMembership } from '../client/login/membership.ts'
import { type Access, connectLogin, explainNamespace, noticedTiming } from './support/access.ts'
import { type ReadPage, tracePages } from './support/pages.ts'
import { authorName, shortest } from './support/short-ids.ts'
import type { ClientOptions } from './support/access.ts'

/** The time by which a list is sorted, as --sort takes it. */
export type SortName = 'started' | 'created' | 'updated'

type Options = ClientOptions & {
  readonly limit: number
  readonly project?: string
  readonly agent?: string
  readonly public?: boolean
  readonly subagents?: boolean
  /** In milliseconds; `since` is inclusive, `until` exclusive. */
  readonly since?: number
  readonly until?: number
  readonly sort?: SortName
  readonly cost?: boolean
}

const MAX_PAGE = 100

/** The start of a session, which may be raw JSON. */
const startOf = (startedAt: ListedTrace['startedAt']): number | undefined =>
  startedAt === undefined ? undefined : Number(JSON.stringify(startedAt))

/** The time by which a list is sorted, and which it shows. */
const timeBy: { readonly [Name in SortName]: (trace: ListedTrace) => number } = {
  started: ({ startedAt, createdAt }) => timeOrArrival(startOf(startedAt), createdAt),
  created: ({ createdAt }) => createdAt,
  updated: ({ updatedAt, createdAt }) => updatedAt ?? createdAt,
}

/** When a session was. Of one whose start is too far ahead it is the time when it came, which is marked. */
const whenText = (trace: ListedTrace, sort: SortName): string => {
  const isMarked = sort === 'started' && isAhead(startOf(trace.startedAt) ?? -Infinity, trace.createdAt)
  return `${shortTime(timeBy[sort](trace))}${isMarked ? ` (${AHEAD})` : ''}`
}

const isFeedOf = ({ public: isPublic = false, namespace }: Options) => isPublic && namespace === undefined

const sortOf = (options: Options): SortName => options.sort ?? (isFeedOf(options) ? 'created' : 'started')

/** Names of the members of a namespace by user id. */
type Names = ReadonlyMap<string, string | undefined>

/** The author's name; the first characters of the id if there is no name, or no such member any more. */
const authorText = (names: Names, { createdBy }: ListedTrace): string =>
  createdBy === undefined ? '-' : authorName({ id: createdBy, displayName: names.get(createdBy) })

/** The tokens of a trace, and what they have cost. */
const usageColumns: readonly Column<ListedTrace>[] = [
  {
    head: 'tokens',
    cell: ({ usage }) => {
      const { all } = tokenCounts(usage)
      return all === undefined ? '-' : tokensText(all)
    },
    align: 'right',
    drop: 3,
  },
  { head: 'cost', cell: ({ cost }) => (cost === undefined ? '-' : costText(cost)), align: 'right', min: 20 },
]

/** How many sub-agents a trace has, which are not in the list. */
const subAgentsColumn: Column<ListedTrace> = {
  head: 'sub-agents',
  cell: ({ childCount = 0 }) => {
    if (childCount === 0) return '-'
    return childCount < MOST_CHILDREN ? `+${childCount}` : `${MOST_CHILDREN}+`
  },
  align: 'right',
  drop: 2,
}

type Shown = {
  readonly isFeed: boolean
  readonly hasShortIds: boolean
  readonly sort: SortName
  readonly hasCost: boolean
  readonly hasSubAgents: boolean
  /** Undefined if the column "author" is not shown. */
  readonly names: Names | undefined
}

const columnsFor = (
  traces: readonly ListedTrace[],
  { isFeed, hasShortIds, sort, hasCost, hasSubAgents, names }: Shown,
): Column<ListedTrace>[] => {
  const id = hasShortIds ? shortest(traces.map(({ externalId }) => externalId)) : Infinity
  return [
    { head: 'when', cell: (trace) => whenText(trace, sort) },
    { head: 'title', cell: ({ title, ai_title: made }) => title ?? made ?? '-', min: 16 },
    ...(names ? [{ head: 'author', cell: (trace: ListedTrace) => authorText(names, trace), min: 6, drop: 1 }] : []),
    { head: 'project', cell: ({ projectName }) => projectName ?? '-', min: 7, drop: 2 },
    { head: 'agent', cell: ({ agentId }) => agentId, min: 5, drop: 1 },
    { head: 'messages', cell: ({ messageCount = 0 }) => String(messageCount), align: 'right', drop: 3 },
    ...(hasSubAgents ? [subAgentsColumn] : []),
    ...(hasCost ? usageColumns : []),
    isFeed
      ? { head: 'namespace', cell: ({ namespace }) => namespace?.slug ?? '-', min: 9, drop: 4 }
      : { head: 'visibility', cell: ({ visibility }) => visibility, drop: 4 },
    { head: 'id', cell: ({ externalId }) => externalId.slice(0, id) },
  ]
}

type Printer = { page(traces: readonly ListedTrace[]): Promise<void>; end(): Promise<void> }

/** On a terminal all traces are printed as one table, with short distinct ids; in a pipe or a file each page as it comes. */
const newPrinter = (options: Options, namesOfAuthors: Promise<Names> | undefined): Printer => {
  const { json = false, public: isPublic = false, cost: hasCost = false, subagents = false, namespace } = options
  const columns = widthOf(io().stdout)
  const isTerminal = columns !== undefined
  const [isFeed, sort] = [isFeedOf(options), sortOf(options)]
  // Prefixes of ids are searched only in the namespace of the login.
  const hasShortIds = isTerminal && !isPublic && namespace === undefined
  const kept: ListedTrace[] = []
  let hasHead = false
  const print = async (traces: readonly ListedTrace[]) => {
    if (traces.length === 0) return
    const members = await namesOfAuthors
    const names = members && (namespace !== undefined || members.size > 1) ? members : undefined
    // In a pipe the later traces are not known yet.
    const hasSubAgents = !subagents && (!isTerminal || traces.some(({ childCount = 0 }) => childCount > 0))
    const shown = { isFeed, hasShortIds, sort, hasCost, hasSubAgents, names }
    const lines = tableLines(columnsFor(traces, shown), traces, columns)
    await printLines(hasHead ? lines.slice(1) : lines)
    hasHead = true
  }
  return {
    page: async (traces) => {
      if (json) for (const trace of traces) await printDocument({ type: 'trace', trace })
      else if (isTerminal) kept.push(...traces)
      else await print(traces)
    },
    end: () => print(kept),
  }
}

/** How to read the pages of a list, and the message if it is empty. */
type List = {
  readonly read: ReadPage
  readonly none: string
  /** For a namespace: its members, which only members may see; empty for others. */
  readonly names?: Promise<Names>
}

/** What a list asks for beside its page. */
type Asked = { readonly children?: 'false' }

const publicList = ({ server, namespace }: Access, sort: Sort, asked: Asked): List => {
  const traces = newTracesClient(server, undefined, noticedTiming)
  if (namespace === undefined)
    return { read: (page) => traces.feed({ ...page, ...asked }), none: `There are no public traces at ${server}.` }
  return {
    read: (page) => traces.list(namespace, { ...page, ...asked, sort }).catch(explainNamespace(namespace, server)),
    none: `There are no public traces in the namespace "${namespace}".`,
    names: Promise.resolve(new Map()),
  }
}

/** The names of the members of a namespace, which only members may see; so that the user is one is remembered. */
const namesIn = async ({ config, server }: Access, slug: string, token: string): Promise<Names> => {
  const members = await newNamespacesClient(server, token)
    .members(slug)
    .catch(() => [])
  if (members.length > 0) await rememberMembership(config, server, slug)
  return new Map(members.map(({ user }) => [user.id, user.displayName]))
}

const openList = async (access: Access, options: Options): Promise<List> => {
  const { server, namespace } = access
  const sort = `${sortOf(options)}At` as const
  const needsLogin = namespace === undefined || (await access.token()) !== undefined
  const asked: Asked = options.subagents ? {} : { children: 'false' }
  if (options.public || !needsLogin) return publicList(access, sort, asked)
  // Connects to the namespace of the login, because a user who is not a member of the named one may list its public traces.
  const { token, namespaceSlug } = await connectLogin(access)
  const traces = newTracesClient(server, token, noticedTiming)
  const slug = namespace ?? namespaceSlug
  const none = `There are no traces in the namespace "${slug}". To upload your sessions, run: ${commandName} sync`
  const names = options.json ? Promise.resolve(new Map()) : namesIn(access, slug, token)
  return {
    read: (page) => traces.list(slug, { ...page, ...asked, sort }).catch(explainNamespace(slug, server)),
    none,
    names,
  }
}

const isWanted = ({ project, agent }: Options) => {
  const [wantedProject, wantedAgent] = [project?.toLowerCase(), agent?.toLowerCase()]
  return ({ projectName, agentId }: ListedTrace): boolean =>
    (wantedProject === undefined || projectName?.toLowerCase() === wantedProject) &&
    (wantedAgent === undefined || agentId.toLowerCase() === wantedAgent)
}

export const ls = async (access: Access, options: Options): Promise<number> => {
  const { limit, project, agent, since = -Infinity, until = Infinity } = options
  if (isFeedOf(options) && sortOf(options) !== 'created')
    throw new UsageError(
      'The public traces of all namespaces are sorted by creation: use --namespace, or leave out --sort.',
    )
  const { read, none, names } = await openList(access, options)
  const printer = newPrinter(options, names)
  const timeOf = timeBy[sortOf(options)]
  const isInTime = (trace: ListedTrace) => timeOf(trace) >= since && timeOf(trace) < until
  const isFiltered = [project, agent, options.since, options.until].some((option) => option !== undefined)
  let [shown, hasMore] = [0, false]
  for await (const page of tracePages(read, isFiltered ? MAX_PAGE : Math.min(MAX_PAGE, limit + 1))) {
    const wanted = page.filter(isWanted(options)).filter(isInTime)
    const traces = wanted.slice(0, limit - shown)
    await printer.page(traces)
    shown += traces.length
    hasMore = wanted.length > traces.length
    if (hasMore || page.some((trace) => timeOf(trace) < since)) break // all following traces are older
  }
  await printer.end()
  if (options.json) return exitCodes.ok
  if (shown === 0 && limit > 0)
    say(isFiltered ? 'No trace matches. Leave out --project, --agent, --since or --until to see others.' : none)
  if (hasMore && io().stdout.isTTY)
    say(`There are more. To list them, run: ${commandName} ls --limit ${limit * 2 || 50}`)
  return exitCodes.ok
}
