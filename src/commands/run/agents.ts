import { homedir } from 'node:os'
import { commandName } from '../../cli/command-name.ts'
import { exitCodes } from '../../cli/exit.ts'
import { printDocument, printLines, say } from '../../cli/output.ts'
import { agents } from '../../sync/agents/index.ts'
import { configDir, serverAddress, stateDir } from '../../sync/config.ts'
import { readCredentials } from '../../sync/login/credentials.ts'
import { type AgentOverview, type Changes, overviewOf, type Ruled, type Sent } from '../../sync/overview.ts'
import { readRedactionOptions } from '../../sync/redaction/options.ts'
import { openOutlook } from '../../sync/rules/outlook.ts'
import { countOf } from '../../sync/report/text.ts'
import { openSyncState } from '../../sync/state/sync-state.ts'
import type { Options } from '../agents.ts'

type Total = Pick<AgentOverview, 'files' | 'sessions' | 'changes' | 'ruled'>

const sumOf = (changes: readonly Changes[]): Changes => ({
  new: changes.reduce((sum, one) => sum + one.new, 0),
  changed: changes.reduce((sum, one) => sum + one.changed, 0),
  unchanged: changes.reduce((sum, one) => sum + one.unchanged, 0),
})

const totalOf = (overviews: readonly AgentOverview[], sent: Sent | undefined): Total => ({
  files: overviews.reduce((sum, { files }) => sum + files, 0),
  sessions: overviews.reduce((sum, { sessions }) => sum + sessions, 0),
  changes: sent && sumOf(overviews.flatMap(({ changes }) => changes ?? [])),
  ruled: overviews.flatMap(({ ruled }) => ruled),
})

const ruledNames: Readonly<Record<Ruled['status'], string>> = {
  excluded: 'left out',
  held: 'held until you agree',
  elsewhere: 'to other namespaces',
  failed: 'with rules that cannot be used',
}

/** The sessions that are not sent to the namespace of the login, by how rules keep them from it. */
const ruledCounts = (ruled: readonly Ruled[]): readonly (readonly [string, number])[] =>
  (Object.keys(ruledNames) as Ruled['status'][]).map((status) => {
    const counts = ruled.filter((one) => one.status === status).map(({ sessions }) => sessions)
    return [ruledNames[status], counts.reduce((sum, one) => sum + one, 0)]
  })

/** `3 sessions in 2 files: 1 new, 2 unchanged`. */
const describe = ({ files, sessions, changes, ruled }: Total): string => {
  const kinds = [...Object.entries(changes ?? {}), ...ruledCounts(ruled)].filter(([, count]) => count > 0)
  const known = kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return `${countOf(sessions, 'session')} in ${countOf(files, 'file')}${known && `: ${known}`}`
}

type Summary = Total & {
  readonly server: string
  /** The namespace of the login; undefined without one. */
  readonly namespace: string | undefined
  readonly unreadable: number
  readonly exitCode: number
}

type Reporter = {
  readonly unreadable: (file: string, message: string) => unknown
  readonly overview: (overview: AgentOverview) => Promise<void>
  readonly summary: (summary: Summary) => Promise<void>
}

const textReporter: Reporter = {
  unreadable: (file, message) => say(`${file}: ${message}`),
  overview: async (overview) => {
    const found = overview.places.filter(({ exists }) => exists)
    const what = overview.files === 0 ? 'no sessions' : describe(overview)
    await printLines([
      `${overview.agent.name}: ${found.length === 0 ? 'not found' : what}`,
      ...found.map(({ path }) => `  ${path}`),
      ...overview.ruled.map(({ sessions, why }) => `  ${countOf(sessions, 'session')}: ${why}`),
    ])
  },
  summary: async ({ server, namespace, ...total }) => {
    await printLines([`All: ${describe(total)}`])
    if (namespace !== undefined) return
    const hint = `${commandName} login --server ${server}`
    say(`Not logged in to ${server}: what was sent is not known. Run: ${hint}`)
  },
}

const jsonReporter: Reporter = {
  unreadable: (file, message) => printDocument({ type: 'problem', kind: 'unreadable', file, message }),
  overview: ({ agent: { id, name }, changes, ...rest }) =>
    printDocument({ type: 'agent', id, name, ...rest, ...changes }),
  summary: ({ server, namespace, files, sessions, changes, ruled: _, ...rest }) =>
    printDocument({ type: 'summary', server, namespace, files, sessions, ...changes, ...rest }),
}

/** What was sent to the namespace of the login. */
export const sentTo = async (
  config: string,
  server: string,
  { namespaceId, namespaceSlug }: { readonly namespaceId: string; readonly namespaceSlug: string },
): Promise<Sent> => {
  const state = openSyncState({ folder: stateDir(process.env), config, readOnly: true })
  const where = { env: process.env, home: homedir(), config, server }
  return {
    states: await state.of({ server, namespaceId }),
    redaction: await readRedactionOptions(config),
    ruleFor: await openOutlook({ ...where, loginNamespace: namespaceSlug, origins: state }),
  }
}

export const showAgents = async (options: Options): Promise<number> => {
  const [server, config] = [serverAddress(options.server, process.env), configDir(process.env)]
  const report = options.json ? jsonReporter : textReporter
  const login = (await readCredentials(config, server))?.login
  const sent = login && (await sentTo(config, server, login))
  let unreadable = 0
  const onUnreadable = (file: string, message: string) => {
    unreadable++
    report.unreadable(file, message)
  }
  const overviews: AgentOverview[] = []
  for await (const overview of overviewOf(agents, { env: process.env, home: homedir() }, sent, onUnreadable)) {
    overviews.push(overview)
    await report.overview(overview)
  }
  const isUnusable = overviews.some(({ ruled }) => ruled.some(({ status }) => status === 'failed'))
  const exitCode = unreadable > 0 || isUnusable ? exitCodes.failed : exitCodes.ok
  await report.summary({ server, namespace: login?.namespaceSlug, ...totalOf(overviews, sent), unreadable, exitCode })
  return exitCode
}
