import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readRunningService } from '../../src/eventstore/embedded/lock.ts'
import { onServer } from '../support/database.ts'
import { openConnection, requestBytes } from './http.ts'

export const main = new URL('../../src/main.ts', import.meta.url).pathname
const START_MS = 60_000
/** The most messages in a request. */
const BATCH = 200

/** A service as a user starts it, in a process of its own, and the database beside it for the yardsticks. */
export type World = {
  readonly url: string
  readonly databaseUrl: string
  readonly pid: number
  /** A signed-in user: the header that says so, and the namespace with its name. */
  signIn(deviceId: string): Promise<{ authorization: string; namespaceId: string; slug: string; userId: string }>
  call(
    method: string,
    path: string,
    authorization: string | undefined,
    body?: object,
  ): Promise<{ status: number; text: string }>
  /** The text of an answer with 200. @throws for any other one */
  ask(method: string, path: string, authorization: string | undefined, body?: object): Promise<string>
  /** Sends so many messages to a trace, in batches. */
  upload(
    trace: string,
    authorization: string,
    count: number,
    make: (count: number, first: number) => object[],
  ): Promise<void>
  /** Microseconds of processor time that the main thread of the service has taken so far, and bytes that its collector has promoted. */
  mainThread(): Promise<{ readonly us: number; readonly promoted: number }>
  /** Resident memory of the service's process in megabytes, without its database. */
  memoryMb(): Promise<number>
  close(): Promise<void>
}

const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
  const end = performance.now() + START_MS
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`timed out: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const open = new Set<() => Promise<void>>()

/** Stops the service of each world that is open still: for a bench that is ended by a signal. */
export const closeWorlds = async (): Promise<void> => {
  await Promise.all([...open].map((close) => close()))
}

/** Of `/proc`, in microseconds: 100 in a second, on every Linux. */
const TICK_US = 10_000

/** Sums up what the collector of a process says of its first isolate (`--trace-gc-nvp`). */
const promotedBy = ({ stdout }: ChildProcess) => {
  let isolate: string | undefined
  let bytes = 0
  createInterface(stdout!).on('line', (line) => {
    const [, id, found] = /^\[\d+:(\w+):.*"promoted":(\d+)/.exec(line) ?? []
    isolate ??= id
    if (found && id === isolate) bytes += Number(found)
  })
  return () => bytes
}

/** `eventStoreUrl`: where the log is, when it is not in the embedded Postgres. `more`: variables besides; `mostDescriptors`: what the process may open. */
export const openWorld = async (
  eventStoreUrl = '',
  more: Readonly<Record<string, string>> = {},
  mostDescriptors?: number,
): Promise<World> => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-bench-'))
  await chmod(folder, 0o755)
  const dataDir = join(folder, 'data')
  const limit = mostDescriptors === undefined ? '' : `ulimit -n ${mostDescriptors} && `
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, '--trace-gc-nvp', main, 'serve'], {
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      DATABASE_URL: '',
      EVENTSTORE_URL: eventStoreUrl,
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      RATE_LIMITS: 'off',
      MALLOC_MMAP_THRESHOLD_: '1048576', // otherwise `serve` executes itself again to set it, and the first isolate ends
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const promoted = promotedBy(child)
  const close = async () => {
    open.delete(close)
    await stop(child)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  open.add(close)
  return enter(child, dataDir, { promoted, close }).catch(async (error) => {
    await close() // nobody else knows of it
    throw error
  })
}

/** Waits until the service can be used. */
const enter = async (
  child: ChildProcess,
  dataDir: string,
  { promoted, close }: { promoted: () => number; close: () => Promise<void> },
): Promise<World> => {
  const { url, databaseUrl } = await until(
    async () => (await readRunningService(dataDir)) ?? undefined,
    'the service to start',
  )

  const call = async (method: string, path: string, authorization: string | undefined, body?: object) => {
    const connection = await openConnection(url)
    const headers: Record<string, string> = authorization ? { authorization } : {}
    const answer = await connection.send(requestBytes(method, path, headers, body && JSON.stringify(body)))
    connection.close()
    return { status: answer.status, text: answer.body.toString() }
  }

  const ask: World['ask'] = async (method, path, authorization, body) => {
    const { status, text } = await call(method, path, authorization, body)
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text
  }

  const upload: World['upload'] = async (trace, authorization, count, make) => {
    for (let first = 0; first < count; first += BATCH)
      await ask('POST', `${trace}/messages/batch`, authorization, {
        messages: make(Math.min(BATCH, count - first), first),
      })
  }

  const signIn = async (deviceId: string) => {
    const { session } = JSON.parse(await ask('POST', '/v1/session', undefined, { deviceId })).data
    const { token, namespaceId, namespaceSlug: slug, userId } = session
    return { authorization: `Bearer ${token}`, namespaceId, slug, userId }
  }

  const mainThread = async () => {
    const stat = await readFile(`/proc/${child.pid}/task/${child.pid}/stat`, 'utf8')
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14)
    return { us: (Number(user) + Number(system)) * TICK_US, promoted: promoted() }
  }

  const memoryMb = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024
  }

  await until(
    async () => ((await call('GET', '/health/ready', undefined)).status === 200 ? true : undefined),
    'readiness',
  )
  await onServer(databaseUrl, 'create database bench')
  return { url, databaseUrl, pid: child.pid!, signIn, call, ask, upload, mainThread, memoryMb, close }
}
