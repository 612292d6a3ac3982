import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newApiClient } from '../../src/sync/api/client.ts'
import { logInWithDevice } from '../../src/sync/login/device-login.ts'
import { ingest } from './ingest.ts'
import type { Named, Setting } from './measure.ts'
import { writeSessions } from './sessions.ts'
import type { ClientRun } from './sync-client.ts'
import type { World } from './world.ts'

const client = join(import.meta.dirname, 'sync-client.ts')
const run = promisify(execFile)

/** 80 MB. */
const SESSIONS = 300
const WANTED_MB = 250
const WANTED_MS = 300
const FILES = 1_000

type Sync = (kind?: 'redacted') => Promise<ClientRun>

/** A machine with so many sessions of Claude Code, whose `sync` runs in a process of its own. A new user for each `use`. */
const withSessions = async <T>(
  { url }: World,
  count: number,
  use: (newUser: () => Promise<Sync>) => Promise<T>,
  largest?: number,
): Promise<T> => {
  const home = await mkdtemp(join(tmpdir(), 'tracebook-bench-home-'))
  const env = { ...process.env, HOME: home, CLAUDE_CONFIG_DIR: home }
  try {
    writeSessions(join(home, 'projects'), count, largest)
    return await use(async () => {
      const config = await mkdtemp(join(home, 'config-'))
      await logInWithDevice(config, url, newApiClient)
      return async (kind = undefined) => {
        const { stdout } = await run(process.execPath, [client, config, url, ...(kind ? [kind] : [])], { env })
        const result = JSON.parse(stdout) as ClientRun
        if (result.exitCode !== 0) throw new Error(`sync: ${stdout}`)
        return result
      }
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const rateOf = ({ messages, ms }: ClientRun): number => (messages * 1_000) / ms

const memory = (name: string, { megabytes }: ClientRun): Named => ({
  name: `${name} memory`,
  unit: 'MB',
  value: megabytes,
  yardstick: WANTED_MB,
})

/** Messages a second of a first sync without redaction, beside the service's own batch ingest. */
export const syncFirst = ({ world, ms }: Setting): Promise<readonly Named[]> =>
  withSessions(world, SESSIONS, async (newUser) => {
    const before = await ingest(world, ms)
    const first = await (await newUser())()
    const yardstick = (before + (await ingest(world, ms))) / 2
    return [{ name: 'sync-first', unit: 'messages/s', value: rateOf(first), yardstick }, memory('sync-first', first)]
  })

/** Messages a second of a first sync with redaction, beside the same without. */
export const syncRedacted = ({ world }: Setting): Promise<readonly Named[]> =>
  withSessions(world, SESSIONS, async (newUser) => {
    const before = await (await newUser())()
    const redacted = await (await newUser())('redacted')
    const yardstick = (rateOf(before) + rateOf(await (await newUser())())) / 2
    return [
      { name: 'sync-redacted', unit: 'messages/s', value: rateOf(redacted), yardstick },
      memory('sync-redacted', redacted),
    ]
  })

/** Milliseconds of a sync of 1,000 sessions of which nothing is new, with redaction, beside what they may be. */
export const syncAgain = ({ world }: Setting): Promise<readonly Named[]> =>
  withSessions(
    world,
    FILES,
    async (newUser) => {
      const sync = await newUser()
      await sync('redacted')
      const runs = [await sync('redacted'), await sync('redacted'), await sync('redacted')]
      const value = runs.map(({ ms }) => ms).sort((a, b) => a - b)[1]!
      return [{ name: 'sync-again', unit: 'ms', value, yardstick: WANTED_MS }]
    },
    20_000,
  )
