import { homedir } from 'node:os'
import { commandName } from '../../cli/command-name.ts'
import { exitCodes } from '../../cli/exit.ts'
import { localTime } from '../../cli/local-time.ts'
import { type Line, printDocument, printLines } from '../../cli/output.ts'
import { agents } from '../../sync/agents/index.ts'
import { type Account, newAccountClient } from '../../sync/api/account.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { type Probe, probe } from '../../sync/api/probe.ts'
import { serverAddress, stateDir } from '../../sync/config.ts'
import { type Credentials, readCredentials } from '../../sync/login/credentials.ts'
import { type Changes, overviewOf } from '../../sync/overview.ts'
import { countOf } from '../../sync/report/text.ts'
import { type Watcher, runningWatcher } from '../../sync/watch/watch-lock.ts'
import { version } from '../../version.ts'
import { sentTo } from './agents.ts'
import { userText } from '../support/account.ts'
import { type Access, noticedTiming } from '../support/access.ts'
import { type ClientOptions } from '../support/client-command.ts'

type StoredLogin = NonNullable<Credentials['login']>

/** `account` is undefined where the server was not asked, or refused: `valid` is false then, else unknown. */
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
  /** Undefined without a login: what was sent is not known then. */
  readonly waiting: Changes | undefined
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

/** What of this machine's sessions was not sent to a namespace, without what rules keep from it. */
const waitingFor = async (config: string, server: string, namespace: Namespace): Promise<Changes> => {
  const total: Changes = { new: 0, changed: 0, unchanged: 0 }
  const sent = await sentTo(config, server, namespace)
  for await (const { changes } of overviewOf(agents, { env: process.env, home: homedir() }, sent, () => {}))
    for (const kind of ['new', 'changed', 'unchanged'] as const) total[kind] += changes?.[kind] ?? 0
  return total
}

const statusOf = async ({ config, server }: Access): Promise<Status> => {
  const stored = (await readCredentials(config, server))?.login
  const service = await probe(server)
  const login = stored && (await loginOf(server, stored, service))
  const active = login?.account?.namespace
  const namespace = active ? { namespaceId: active.id, namespaceSlug: active.slug } : stored
  const waiting = namespace && (await waitingFor(config, server, namespace))
  const watcher = await runningWatcher(stateDir(process.env), server)
  return { server, isDefault: server === serverAddress(undefined, process.env), service, login, waiting, watcher }
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
  return `${userText(user)}${session.expiresAt === undefined ? '' : `, until ${localTime(session.expiresAt)}`}`
}

const namespaceText = ({ stored, account }: Login): string => {
  if (!account) return `${stored.namespaceSlug}, not checked`
  return account.namespace ? `${account.namespace.slug} (${account.role})` : 'none: you are a member of no namespace'
}

const waitingText = (waiting: Changes): string => {
  const { new: fresh, changed, unchanged } = waiting
  if (fresh + changed === 0) return `nothing: ${countOf(unchanged, 'session')} sent`
  return `${countOf(fresh, 'new session')}, ${changed} that may have changed; send them with: ${commandName} sync`
}

const textOf = ({ server, isDefault, service, login, waiting, watcher }: Status): Line[] => {
  const logId = login?.account?.logId
  const isWell = service.is === 'ready'
  return [
    { text: `server     ${server}${isDefault ? ' (default)' : ''}` },
    { text: `service    ${serviceText(service)}`, ...(isWell ? {} : { style: 'bad' }) },
    ...(logId === undefined ? [] : [{ text: `log        ${logId}` }]),
    { text: `login      ${loginText(login, server)}`, ...(login && login.valid !== false ? {} : { style: 'bad' }) },
    ...(login ? [{ text: `namespace  ${namespaceText(login)}` }] : []),
    ...(waiting ? [{ text: `waiting    ${waitingText(waiting)}` }] : []),
    ...(watcher ? [{ text: `watching   process ${watcher.pid}, since ${localTime(watcher.since)}` }] : []),
    { text: `version    ${version}` },
  ]
}

const documentOf = (status: Status): object => {
  const { server, isDefault, login, waiting, watcher } = status
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
    waiting,
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
