import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRunningService } from '../../../src/eventstore/embedded/lock.ts'
import { giveCluster } from '../../support/cluster.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { Moments } from './moments.ts'
import { until } from '../../support/until.ts'

const main = new URL('../../../src/main.ts', import.meta.url).pathname

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly data: never
  readonly error: { readonly code: string; readonly message: string; readonly details?: { readonly stored?: unknown } }
}

export type Asking = { readonly token?: string | undefined; readonly body?: unknown; readonly signal?: AbortSignal }

/** A service as a user starts it: a process of its own with an embedded Postgres. */
export type Service = {
  readonly url: string
  readonly databaseUrl: string
  readonly pid: number
  /** Sends a request. Rejects if there is no answer. */
  call(method: string, path: string, asking?: Asking): Promise<Answered>
  /** Signs in, as a new user or with a device. Returns the token. */
  signIn(deviceId: string): Promise<string>
  isReady(): Promise<boolean>
  /** Sends a signal; resolves to the exit code, or the signal's name, once the process has gone. */
  end(signal: NodeJS.Signals): Promise<number | string>
  readonly ended: Promise<number | string>
  /** What it wrote to its standard output and error. */
  output(): string
  /** Whether it has been stopped, and gives no answer until it goes on. */
  isFrozen?(): boolean
  /** The moments when its data were copied and lost, if a world does that. */
  readonly moments?: Moments
}

const ask = async (url: string, method: string, path: string, { token, body, signal }: Asking): Promise<Answered> => {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  })
  const { data, error } = (await answer.json()) as Pick<Answered, 'data' | 'error'>
  return { status: answer.status, headers: answer.headers, data, error }
}

/** Starts the process, without waiting until it is ready. */
export const launch = (dataDir: string, env: Record<string, string>, program = main): ChildProcess =>
  spawn(process.execPath, [program, 'serve'], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      DATABASE_URL: '',
      PORT: '0',
      LOG_LEVEL: 'info',
      RATE_LIMITS: 'off',
      CATALOGUE_URL: 'none',
      ...logEnvironment(dataDir),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Resolves to the exit code, or the signal's name, once a process has gone. */
export const howItEnded = (child: ChildProcess): Promise<number | string> =>
  once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string)

/** Starts the service on a folder, that of this checkout or of another one; resolves when it takes requests. */
export const serveOn = async (dataDir: string, env: Record<string, string> = {}, program = main): Promise<Service> => {
  if (env.DATABASE_URL === undefined) await giveCluster(dataDir)
  const child = launch(dataDir, env, program)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = howItEnded(child)
  let url = ''
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the service has ended: ${output}`)
    url = /Tracebook serves at (\S+)|health +(\S+)\/health\/ready/.exec(output)?.slice(1).find(Boolean) ?? ''
    return url !== ''
  })
  const databaseUrl = env.DATABASE_URL ?? (await readRunningService(dataDir))!.databaseUrl
  const call = (method: string, path: string, asking: Asking = {}) => ask(url, method, path, asking)
  const isReady = () =>
    fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(20_000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  const signIn = async (deviceId: string) => {
    const { data } = await call('POST', '/v1/session', { body: { deviceId } })
    return (data as { session: { token: string } }).session.token
  }
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  await until(isReady)
  return { url, databaseUrl, pid: child.pid!, call, signIn, isReady, end, ended, output: () => output }
}

/** The process id of the Postgres of a folder. */
export const postgresPid = async (dataDir: string): Promise<number> =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
