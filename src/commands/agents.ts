import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { agents } from '../client/agents/index.ts'
import { configDir, serverAddress } from '../client/config.ts'
import { readCredentials } from '../client/login/credentials.ts'
import { type AgentOverview, overviewOf } from '../client/overview.ts'
import { countOf, linksText } from '../client/report/text.ts'
import { expiringText, kindsText, sentTo, type Total, totalOf } from './support/session-counts.ts'

type Options = { readonly server?: string; readonly json?: boolean }

/** `3 sessions in 2 files: 1 new, 2 unchanged`. */
const describe = ({ files, sessions, changes, ruled }: Omit<Total, 'expiring' | 'linked'>): string => {
  const known = kindsText(Object.entries(changes ?? {}), ruled)
  return `${countOf(sessions, 'session')} in ${countOf(files, 'file')}${known && `: ${known}`}`
}

type Summary = Total & {
  readonly server: string
  /** The namespace of the login, if there is one. */
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
    const expiring = expiringText(overview.agent.name, overview.expiring)
    const what = overview.files === 0 ? 'no sessions' : describe(overview)
    await printLines([
      `${overview.agent.name}: ${found.length === 0 ? 'not found' : what}`,
      ...found.map(({ path }) => `  ${path}`),
      ...(expiring === undefined ? [] : [`  ${expiring}`]),
      ...(overview.linked.length === 0 ? [] : [`  ${linksText(overview.linked)}`]),
      ...overview.ruled.map(({ sessions, why }) => `  ${countOf(sessions, 'session')}: ${why}`),
    ])
  },
  summary: async ({ server, namespace, ...total }) => {
    await printLines([`All: ${describe(total)}`])
    if (namespace !== undefined) return
    const hint = `${commandName} login --server ${server}`
    say(`Not logged in to ${server}, so it is not known what was sent. To log in, run: ${hint}`)
  },
}

const jsonReporter: Reporter = {
  unreadable: (file, message) => printDocument({ type: 'problem', kind: 'unreadable', file, message }),
  overview: ({ agent: { id, name }, changes, linked, ...rest }) =>
    printDocument({ type: 'agent', id, name, ...rest, linked: linked.map(({ path }) => path), ...changes }),
  summary: ({ server, namespace, files, sessions, changes, ruled: _, linked, ...rest }) =>
    printDocument({
      ...{ type: 'summary', server, namespace, files, sessions, ...changes },
      ...{ ...rest, linked: linked.map(({ path }) => path) },
    }),
}

export const showAgents = async (options: Options): Promise<number> => {
  const [server, config] = [serverAddress(options.server, io().env), configDir(io().env)]
  const report = options.json ? jsonReporter : textReporter
  const login = (await readCredentials(config, server))?.login
  const sent = login && (await sentTo(config, server, login))
  let unreadable = 0
  const onUnreadable = (file: string, message: string) => {
    unreadable++
    report.unreadable(file, message)
  }
  const overviews: AgentOverview[] = []
  for await (const overview of overviewOf(agents, { env: io().env, home: io().home }, sent, onUnreadable)) {
    overviews.push(overview)
    await report.overview(overview)
  }
  const isUnusable = overviews.some(({ ruled }) => ruled.some(({ status }) => status === 'failed'))
  const exitCode = unreadable > 0 || isUnusable ? exitCodes.failed : exitCodes.ok
  await report.summary({
    server,
    namespace: login?.namespaceSlug,
    ...totalOf(overviews, sent !== undefined),
    unreadable,
    exitCode,
  })
  return exitCode
}
