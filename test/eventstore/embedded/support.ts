import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import * as assert from 'uvu/assert'
import type { MinimalLogger } from '../../../src/base/logger.ts'
import { pathsIn } from '../../../src/eventstore/embedded/paths.ts'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { isPostmaster, runningProcesses, processesOf } from '../../../src/eventstore/embedded/processes.ts'
import { giveCluster } from '../../support/cluster.ts'

export const isRoot = process.getuid?.() === 0

/** The user that root's tests drop to. */
export const NOBODY = 65534

const killWhatRunsIn = async (folder: string) => {
  for (const { pid, command } of await runningProcesses()) {
    if (pid !== process.pid && command.some((word) => word.startsWith(folder))) process.kill(pid, 'SIGKILL')
  }
}

/** Gives the work a folder that everybody can enter, and removes it, with what a failed test left running there. */
export const inFolder = async (work: (folder: string) => Promise<unknown>) => {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
  try {
    await chmod(folder, 0o755)
    await work(folder)
  } finally {
    await killWhatRunsIn(folder)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Gives the work a DATA_DIR whose PostgreSQL is there already, where nothing is about its first start. */
export const inDataDir = (work: (dataDir: string) => Promise<unknown>) =>
  inFolder(async (folder) => {
    await giveCluster(folder)
    await work(folder)
  })

/** A log whose lines can be looked at. */
export const recordingLog = () => {
  const lines: string[] = []
  const add = (details: object, message: string) => void lines.push(`${message} ${JSON.stringify(details)}`)
  const log: MinimalLogger = { info: add, warn: add, error: add }
  return { lines, log }
}

/** Runs one statement on a connection of its own. */
export const query = async (url: string, sql: string) => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

export const answers = (url: string) =>
  query(url, 'select 1').then(
    () => true,
    () => false,
  )

export const isAlive = async (pid: number) => (await runningProcesses()).some((each) => each.pid === pid)

/** The process ids of the PostgreSQL servers of a DATA_DIR. */
export const serversOf = async (dataDir: string) => {
  const { marker } = await pathsIn(dataDir)
  return (await runningProcesses()).filter((each) => isPostmaster(each, marker)).map(({ pid }) => pid)
}

/** Every process of the PostgreSQL of a DATA_DIR. */
export const allOf = async (dataDir: string) => processesOf((await pathsIn(dataDir)).marker)

/** A Tracebook of its own process: owns the folder, runs its PostgreSQL, and prints a JSON line when it does, or why not. */
export const serveIn = (dataDir: string, options: { uid?: number; gid?: number } = {}) => {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'serve.ts'), dataDir], {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const line = new Promise<string>((resolve) => {
    const lines = createInterface({ input: child.stdout! })
    lines.once('line', resolve)
    lines.once('close', () => resolve('{"error":"it has ended"}'))
  })
  const ready = line.then((text) => JSON.parse(text) as { pid: number; url: string; error?: string })
  const kill = async (signal: NodeJS.Signals, group = false) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(group ? -child.pid! : child.pid!, signal)
    await exited
  }
  return { pid: child.pid!, ready, kill, exited, exitCode: () => child.exitCode }
}

/** A start works, leaves nothing after its stop, and what it logged is returned. */
export const startAndStop = async (dataDir: string) => {
  const { log, lines } = recordingLog()
  const postgres = await startPostgres({ dataDir, log })
  const answered = await answers(postgres.url)
  await postgres.stop()
  assert.ok(answered)
  assert.equal(await allOf(dataDir), [])
  return lines.join('\n')
}
