import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '../../../src/sync/agents/agent.ts'
import { claudeCode } from '../../../src/sync/agents/claude-code/index.ts'
import { newApiClient } from '../../../src/sync/api/client.ts'
import { connect } from '../../../src/sync/login/connect.ts'
import { findSessionFiles } from '../../../src/sync/agents/session-files.ts'
import { logInWithDevice } from '../../../src/sync/login/device-login.ts'
import type { Visibility } from '../../../src/sync/upload/upsert-trace.ts'
import { readRedactionOptions } from '../../../src/sync/redaction/options.ts'
import type { Summary, SyncEvent } from '../../../src/sync/report/events.ts'
import { always, type Destination, type DestinationOf } from '../../../src/sync/upload/destination.ts'
import { syncFiles } from '../../../src/sync/upload/sync-files.ts'
import { openSyncState } from '../../../src/sync/state/sync-state.ts'
import { startServer } from './server.ts'
import { tempFolder } from './temp.ts'
import { newTestTiming } from './timing.ts'

type Options = {
  /** These look for their sessions below the home folder, instead of Claude Code in the folder of sessions. */
  readonly agents?: readonly Agent[]
  readonly slug?: string
  readonly visibility?: Visibility
  readonly dryRun?: boolean
  readonly force?: boolean
  /** Says where each session goes, of the destination that all of them have otherwise. */
  readonly destinations?: (usual: Destination) => DestinationOf
}
type Run = { readonly summary: Summary; readonly events: readonly SyncEvent[] }

/** A user with a config folder and a folder of sessions, logged in to a server of its own. Nothing waits. */
export const newWorld = async () => {
  const { path, remove } = tempFolder()
  const [config, sessions] = [join(path, 'config'), join(path, 'sessions')]
  mkdirSync(sessions)
  const server = await startServer()
  const { timing, waits } = newTestTiming()
  const api = (url: string, token?: string) => newApiClient(url, token, timing)
  const user = await logInWithDevice(config, server.url, api)
  server.requests.length = 0

  const sync = async ({
    agents,
    slug,
    visibility,
    dryRun = false,
    force = false,
    destinations = always,
  }: Options = {}): Promise<Run> => {
    const events: SyncEvent[] = []
    const report = (event: SyncEvent) => void events.push(event)
    const [searching, paths] = agents ? [agents, []] : [[claudeCode], [sessions]]
    const files = await findSessionFiles(searching, paths, { env: {}, home: path }, () => {})
    const connection = await connect({ config, server: server.url, slug, readOnly: dryRun }, api)
    const redaction = await readRedactionOptions(config)
    const state = openSyncState({ folder: join(config, 'data'), config, readOnly: dryRun })
    const states = await state.of({ server: server.url, ...connection })
    const destinationOf = destinations({ connection, states, visibility })
    const job = { destinationOf, origins: state, redaction, dryRun, force, report }
    try {
      return { summary: await syncFiles(job, files, 0), events }
    } finally {
      state.close()
    }
  }

  /** Forgets what was asked, runs once more, and gives the writes of that run. */
  const writesOf = async (options?: Options): Promise<readonly string[]> => {
    server.requests.length = 0
    await sync(options)
    return server.writes()
  }
  const configFiles = () => readdirSync(config, { recursive: true, withFileTypes: true })
  const close = async () => {
    await server.close()
    remove()
  }
  return { home: path, config, sessions, server, user, api, waits, sync, writesOf, configFiles, close }
}

export type ClientWorld = Awaited<ReturnType<typeof newWorld>>
