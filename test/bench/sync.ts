import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { newApiClient } from '../../src/client/api/client.ts'
import { logInWithDevice } from '../../src/client/login/device-login.ts'
import { batchesOf, sendBare } from './bare-sync.ts'
import { type Named, mean, type Setting } from './measure.ts'
import { writeSessions } from './sessions.ts'
import type { ClientRun } from './sync-client.ts'
import type { World } from './world.ts'

const client = join(import.meta.dirname, 'sync-client.ts')
const run = promisify(execFile)

/** 196 MB. */
const SESSIONS = 150
const WANTED_MB = 250
const WANTED_MS = 300
const FILES = 1_000

/** A user on a machine of their own, with sessions of Claude Code in a folder. */
type User = { readonly folder: string; readonly sync: (kind?: 'redacted') => Promise<ClientRun> }

/** Lets one user after the other have so many sessions, whose `sync` runs in a process of its own. */
export const withUsers = async <T>(
  { url }: Pick<World, 'url'>,
  use: (newUser: (count: number, largest?: number) => Promise<User>) => Promise<T>,
): Promise<T> => {
  const homes: string[] = []
  const newUser = async (count: number, largest?: number): Promise<User> => {
    const home = await mkdtemp(join(tmpdir(), 'tracebook-bench-home-'))
    homes.push(home)
    const [config, folder] = [join(home, 'config'), join(home, 'projects')]
    writeSessions(folder, count, largest, basename(home))
    await logInWithDevice(config, url, newApiClient)
    const env = { ...process.env, HOME: home, CLAUDE_CONFIG_DIR: home }
    const sync: User['sync'] = async (kind) => {
      const { stdout } = await run(process.execPath, [client, config, url, ...(kind ? [kind] : [])], { env })
      const result = JSON.parse(stdout) as ClientRun
      if (result.exitCode !== 0) throw new Error(`sync: ${stdout}`)
      return result
    }
    return { folder, sync }
  }
  try {
    return await use(newUser)
  } finally {
    for (const home of homes) await rm(home, { recursive: true, force: true })
  }
}

const rateOf = ({ messages, ms }: ClientRun): number => (messages * 1_000) / ms

const TURNS = 3

/** Messages a second of a first sync, beside the same batches when nothing else is done for them, in turns; and its memory. */
const first =
  (name: string, kind?: 'redacted') =>
  ({ world }: Setting): Promise<readonly Named[]> =>
    withUsers(world, async (newUser) => {
      const [bare, runs]: [number[], ClientRun[]] = [[], []]
      for (let i = 0; i < TURNS; i++) {
        const { folder, sync } = await newUser(SESSIONS)
        bare.push(await sendBare(world, `${name}-${i}`, await batchesOf(folder)))
        runs.push(await sync(kind))
      }
      const megabytes = Math.max(...runs.map((each) => each.megabytes))
      return [
        { name, unit: 'messages/s', value: mean(runs.map(rateOf)), yardstick: mean(bare) },
        { name: `${name} memory`, unit: 'MB', value: megabytes, yardstick: WANTED_MB },
      ]
    })

export const syncFirst = first('sync-first')
export const syncRedacted = first('sync-redacted', 'redacted')

/** Milliseconds of a sync of 1,000 sessions of which nothing is new, with redaction, beside what they may be. */
export const syncAgain = ({ world }: Setting): Promise<readonly Named[]> =>
  withUsers(world, async (newUser) => {
    const { sync } = await newUser(FILES, 20_000)
    await sync('redacted')
    const runs = [await sync('redacted'), await sync('redacted'), await sync('redacted')]
    const value = runs.map(({ ms }) => ms).sort((a, b) => a - b)[1]!
    return [{ name: 'sync-again', unit: 'ms', value, yardstick: WANTED_MS }]
  })
