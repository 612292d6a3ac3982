import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { shortTime } from '../cli/time-text.ts'
import { type Line, printDocument, printLines } from '../cli/output.ts'
import { agents } from '../client/agents/index.ts'
import { type Account, newAccountClient } from '../client/api/account.ts'
import { hasStatus } from '../client/api/errors.ts'
import { type Probe, probe } from '../client/api/probe.ts'
import { serverAddress, stateDir } from '../client/config.ts'
import { type Credentials, readCredentials } from '../client/login/credentials.ts'
import { type AgentOverview, overviewOf } from '../client/overview.ts'
import { leftOutText, linksText } from '../client/report/text.ts'
import { type Watcher, runningWatcher } from '../client/watch/watch-lock.ts'
import { version } from '../base/version.ts'
import { userText } from './support/account.ts'
import { type Access, noticedTiming } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'
import { countRuled, expiringText, kindsText, sentTo, type Total, totalOf } from './support/session-counts.ts'

type StoredLogin = NonNullable<Credentials['login']>

/** `account` is undefined if the server refused the token (`valid` is false then), or was not asked (`valid` is undefined). */
type Login = {
  readonly stored: StoredLogin
  readonly account: Account | undefined
  readonly valid: boolean | undefined
}

type Status = {
  readonly server: string
  readonly isDefault: boolean
  readonly service: Probe
  readonly login: Login | undefined
  readonly sessions: Sessions
  readonly watcher: Watcher | undefined
}

const loginOf = async (server: string, stored: StoredLogin, service: Probe): Promise<Login> => {
  if (service.is === 'out of reach') return { stored, account: undefined, valid: undefined }
  try {
    return { stored, account: await newAccountClient(server, stored.token, noticedTiming).session(), valid: true }
  } catch (error) {
    return { stored, account: undefined, valid: hasStatus(error, 401) ? false : undefined }
  }
}

type Namespace = { readonly namespaceId: string; readonly namespaceSlug: string }

type Sessions = Total & {
  /** How many parts of each unknown kind were left out of what was sent. */
  readonly leftOut: ReadonlyMap<string, number>
  readonly byAgent: readonly AgentOverview[]
}

/** The sessions of this machine, and how many of them were sent to a namespace; unknown without one. */
const sessionsOf = async (config: string, server: string, namespace: Namespace | undefined): Promise<Sessions> => {
  const sent = namespace && (await sentTo(config, server, namespace))
  const searched = { env: io().env, home: io().home }
  const byAgent = await Array.fromAsync(overviewOf(agents, searched, sent, () => {}))
  return { ...totalOf(byAgent, sent !== undefined), byAgent, leftOut: sent?.leftOut ?? new Map() }
}

const statusOf = async ({ config, server }: Access): Promise<Status> => {
  const stored = (await readCredentials(config, server))?.login
  const service = await probe(server)
  const login = stored && (await loginOf(server, stored, service))
  const active = login?.account?.namespace
  const namespace = active ? { namespaceId: active.id, namespaceSlug: active.slug } : stored
  const sessions = await sessionsOf(config, server, namespace)
  const watcher = await runningWatcher({ stateFolder: stateDir(io().env), config, server })
  return { server, isDefault: server === serverAddress(undefined, io().env), service, login, sessions, watcher }
}

const exitCodeOf = ({ service, login }: Status): number => {
  if (service.is !== 'ready') return exitCodes.failed
  if (!login || login.valid === false) return exitCodes.usage
  return login.valid ? exitCodes.ok : exitCodes.failed
}

const serviceText = (service: Probe): string => {
  switch (service.is) {
    case 'ready':
      return service.degraded.length === 0 ? 'ready' : `ready, but: ${service.degraded.join('; ')}`
    case 'not ready':
      return `not ready: ${service.missing.join('; ')}`
    case 'out of reach':
      return `out of reach: ${service.why}`
  }
}

const loginText = (login: Login | undefined, server: string): string => {
  const hint = `run: ${commandName} login --server ${server}`
  if (!login) return `not logged in; ${hint}`
  if (login.valid === false) return `your session has ended; ${hint}`
  if (!login.account) return `user ${login.stored.userId}, not checked`
  const { user, session } = login.account
  return `${userText(user)}${session.expiresAt === undefined ? '' : `, until ${shortTime(session.expiresAt)}`}`
}

const namespaceText = ({ stored, account }: Login): string => {
  if (!account) return `${stored.namespaceSlug}, not checked`
  return account.namespace ? `${account.namespace.slug} (${account.role})` : 'none: you are not a member of a namespace'
}

const saving = `with: ${commandName} sync`

const sessionsText = ({ sessions, changes, ruled }: Sessions): string => {
  if (!changes) return `${sessions} here; unknown how many were sent`
  const { new: fresh, changed, unchanged } = changes
  const counts = [
    ['sent', unchanged],
    ['not sent', fresh],
    ['changed since', changed],
  ] as const
  const kinds = kindsText(counts, ruled)
  return `${sessions} here${kinds && `: ${kinds}`}${fresh + changed === 0 ? '' : `; send them ${saving}`}`
}

/** In red if sessions would be lost, because the agent is about to delete them and they were not sent. */
const expiringLine = ({ agent, expiring }: AgentOverview): Line[] => {
  const text = expiringText(agent.name, expiring)
  if (text === undefined) return []
  if (expiring.unsent === 0) return [{ text: `expiring   ${text}` }]
  return [{ text: `expiring   ${text}; save them ${saving}`, style: 'bad' }]
}

const partsOf = (leftOut: Sessions['leftOut']): number => leftOut.values().reduce((sum, parts) => sum + parts, 0)

const leftOutLines = ({ leftOut }: Sessions): Line[] =>
  leftOut.size === 0 ? [] : [{ text: `left out   ${leftOutText(partsOf(leftOut), [...leftOut.keys()])}` }]

const textOf = ({ server, isDefault, service, login, sessions, watcher }: Status): Line[] => {
  const logId = login?.account?.logId
  const isReady = service.is === 'ready'
  return [
    { text: `server     ${server}${isDefault ? ' (default)' : ''}` },
    { text: `service    ${serviceText(service)}`, ...(isReady ? {} : { style: 'bad' }) },
    ...(logId === undefined ? [] : [{ text: `log        ${logId}` }]),
    { text: `login      ${loginText(login, server)}`, ...(login && login.valid !== false ? {} : { style: 'bad' }) },
    ...(login ? [{ text: `namespace  ${namespaceText(login)}` }] : []),
    { text: `sessions   ${sessionsText(sessions)}` },
    ...(sessions.linked.length === 0 ? [] : [{ text: `left out   ${linksText(sessions.linked)}` }]),
    ...sessions.byAgent.flatMap(expiringLine),
    ...leftOutLines(sessions),
    ...(watcher ? [{ text: `watching   process ${watcher.pid}, since ${shortTime(watcher.since)}` }] : []),
    { text: `version    ${version}` },
  ]
}

const sessionsDocument = ({ sessions, changes, ruled, expiring, linked, leftOut }: Sessions): object => ({
  here: sessions,
  ...(changes && {
    sent: changes.unchanged,
    unsent: changes.new + changes.changed + countRuled(ruled, 'held', 'failed'),
  }),
  expiring,
  linked: linked.map(({ path }) => path),
  ...(leftOut.size > 0 && { leftOut: { parts: partsOf(leftOut), kinds: [...leftOut.keys()] } }),
})

const documentOf = (status: Status): object => {
  const { server, isDefault, login, sessions, watcher } = status
  const { stored, account, valid } = login ?? {}
  const logId = account?.logId
  return {
    type: 'status',
    version,
    server,
    isDefault,
    service: { ...status.service, ...(logId === undefined ? {} : { logId }) },
    ...(stored && {
      login: {
        valid,
        user: account?.user ?? { id: stored.userId },
        namespace: account ? account.namespace?.slug : stored.namespaceSlug,
        role: account?.role,
        expiresAt: account?.session.expiresAt,
      },
    }),
    sessions: sessionsDocument(sessions),
    waiting: sessions.changes,
    ...(watcher && { watcher: { pid: watcher.pid, since: watcher.since } }),
    exitCode: exitCodeOf(status),
  }
}

export const showStatus = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const status = await statusOf(access)
  if (json) await printDocument(documentOf(status))
  else await printLines(textOf(status))
  return exitCodeOf(status)
}
