import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { newApiClient } from '../../../src/client/api/client.ts'
import { connect } from '../../../src/client/login/connect.ts'
import { findSessionFiles } from '../../../src/client/agents/session-files.ts'
import { ALLOWED_SECRETS, readRedactionOptions } from '../../../src/client/redaction/options.ts'
import type { RedactionOptions } from '../../../src/client/redaction/session.ts'
import type { Summary, SyncEvent } from '../../../src/client/report/events.ts'
import { always, type Destination, type DestinationOf } from '../../../src/client/upload/destination.ts'
import type { LiveSessions } from '../../../src/client/upload/live-sessions.ts'
import { syncFiles } from '../../../src/client/upload/sync-files.ts'
import type { SessionStates } from '../../../src/client/state/session-states.ts'
import { openSyncState, type SyncState } from '../../../src/client/state/sync-state.ts'
import { newUploader } from '../../../src/client/state/uploader.ts'
import type { Visibility } from '../../../src/client/upload/upsert-trace.ts'
import { replacedEvent } from '../../../src/client/watch/reach.ts'
import { newTestTiming } from './timing.ts'

type Options = {
  /** These look for their sessions below the home folder, instead of Claude Code in the folder of sessions. */
  readonly agents?: readonly Agent[]
  readonly slug?: string
  readonly visibility?: Visibility
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly strict?: boolean
  /** Says where each session goes, of the destination that all of them have otherwise. */
  readonly destinations?: (usual: Destination) => DestinationOf
  /** The readings that a watch keeps. */
  readonly live?: LiveSessions
  /** How secrets are taken out, of how they are otherwise; undefined when they are not. */
  readonly redacting?: (usual: RedactionOptions) => RedactionOptions | undefined
}
type Run = { readonly summary: Summary; readonly events: readonly SyncEvent[] }

/** By what a machine allows: reading the rules takes 15 ms, and tests sync thousands of times. */
const redactions = new Map<string, RedactionOptions>()

const redactionOn = async (config: string): Promise<RedactionOptions> => {
  const file = join(config, ALLOWED_SECRETS)
  const allowed = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const known = redactions.get(allowed) ?? (await readRedactionOptions(config))
  redactions.set(allowed, known)
  return known
}

/** A machine of a user of the service at `url`: a config folder and a folder of sessions below `home`. Nothing waits. */
export const newMachine = (home: string, url: string) => {
  const [config, sessions] = [join(home, 'config'), join(home, 'sessions')]
  mkdirSync(sessions, { recursive: true })
  const { timing, waits } = newTestTiming()
  /** A watch has its state open from its first round on. */
  const watches = new WeakMap<LiveSessions, { readonly state: SyncState; readonly states: SessionStates }>()
  const api = (server: string, token?: string) => newApiClient(server, token, timing)

  const sync = async ({
    agents,
    slug,
    visibility,
    dryRun = false,
    strict = false,
    force = false,
    destinations = always,
    redacting = (usual) => usual,
    live,
  }: Options = {}): Promise<Run> => {
    const events: SyncEvent[] = []
    const report = (event: SyncEvent) => void events.push(event)
    const searching = agents ?? [{ ...claudeCode, roots: () => [sessions] }]
    const files = await findSessionFiles(searching, [], { env: {}, home }, () => {})
    const opened = live && watches.get(live)
    const state = opened?.state ?? openSyncState({ folder: join(config, 'data'), config, readOnly: dryRun })
    const lastWrite = state.lastWriteTo(url) ?? ''
    const connection = await connect({ config, server: url, slug, readOnly: dryRun, lastWrite }, api)
    if (connection.holds === false) {
      report(replacedEvent(url))
      state.forget(url)
    }
    const redaction = redacting(await redactionOn(config))
    const states = opened?.states ?? (await state.of({ server: url, ...connection }))
    if (live) watches.set(live, { state, states })
    const place = { connection, states }
    const destinationOf = destinations({ ...place, visibility })
    const placeIn = async (slug: string) => {
      const there = await connect({ config, server: url, slug, readOnly: dryRun }, api)
      return { connection: there, states: await state.of({ server: url, ...there }) }
    }
    const run = {
      destinationOf,
      placeIn,
      place,
      origins: state,
      asUploader: newUploader({ stateFolder: join(config, 'data'), config, server: url }),
      redaction,
      dryRun,
      force,
      strict,
      report,
      ...(live && { live }),
    }
    try {
      return { summary: await syncFiles(run, files, 0), events }
    } finally {
      if (!live) state.close()
    }
  }
  const configFiles = () => readdirSync(config, { recursive: true, withFileTypes: true })
  return { home, url, config, sessions, api, waits, sync, configFiles }
}

export type Machine = ReturnType<typeof newMachine>
