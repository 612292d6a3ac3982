import { setTimeout } from 'node:timers/promises'
import { pause } from '../base/waits.ts'
import { onEndOfNpm } from '../cli/end-of-npm.ts'
import { io } from '../cli/io.ts'
import { shortTime } from '../cli/time-text.ts'
import { errorMessage, exitCodes, UsageError } from '../cli/exit.ts'
import { agents } from '../client/agents/index.ts'
import { newApiClient } from '../client/api/client.ts'
import { isTemporaryFailure } from '../client/api/errors.ts'
import { realTiming } from '../client/api/retry.ts'
import { type Connection, connect, requireChosen } from '../client/login/connect.ts'
import { presentAddress } from '../client/login/credentials.ts'
import type { RedactionOptions } from '../client/redaction/session.ts'
import { stateDir } from '../client/config.ts'
import type { Output } from '../client/report/reporters.ts'
import { StateFailed } from '../client/state/state-file.ts'
import { openSyncState, type SyncState } from '../client/state/sync-state.ts'
import { newUploader } from '../client/state/uploader.ts'
import { openRules } from '../client/rules/open.ts'
import { newLiveSessions } from '../client/upload/live-sessions.ts'
import { LogReplaced, NotesForgotten, OtherNamespace } from '../client/upload/same-log.ts'
import type { Visibility } from '../client/upload/upsert-trace.ts'
import { logFile } from '../client/watch/log-file.ts'
import { newNotes, type Notes } from '../client/watch/reach.ts'
import { newReach, type Reach } from '../client/watch/reach.ts'
import { type WatchReporter, watchJsonReporter, watchLineReporter } from '../client/watch/report.ts'
import { newUploadChanges } from '../client/watch/upload-changes.ts'
import { lockWatch, runningWatcher } from '../client/watch/watch-lock.ts'
import { watchSessions } from '../client/watch/watch-sessions.ts'

/** The options of `sync --watch`. `redaction` is undefined if the user has agreed to send secrets. */
type WatchRequest = {
  readonly paths: readonly string[]
  readonly server: string
  readonly config: string
  readonly namespace: string | undefined
  readonly visibility: Visibility | undefined
  readonly redaction: RedactionOptions | undefined
  readonly json: boolean
  /** Where reports are written, instead of stdout and stderr. */
  readonly logFile: string | undefined
}

type ConnectTo = (slug: string | undefined) => Promise<Connection>

/** How long requests in flight may take after the watch was ended. */
const GRACE_MS = 1_000
const BACKOFF_MS = { first: 1_000, longest: 30_000 }

/** Aborted by the first signal, and when npm has ended. The process exits after a grace period, or at a second signal. */
const endingSignal = (): AbortSignal => {
  const controller = new AbortController()
  const end = () => {
    if (controller.signal.aborted) process.exit(exitCodes.ok)
    controller.abort()
    globalThis.setTimeout(() => process.exit(exitCodes.ok), GRACE_MS).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, end)
  void onEndOfNpm(end)
  return controller.signal
}

/** Retries until the service answers; undefined if the signal is aborted before. */
const retryUntilAnswered = async <T>(
  work: () => Promise<T>,
  reach: Reach,
  signal: AbortSignal,
): Promise<T | undefined> => {
  for (let backoffMs = BACKOFF_MS.first; !signal.aborted; backoffMs = Math.min(2 * backoffMs, BACKOFF_MS.longest)) {
    try {
      const result = await work()
      reach.noteAnswer()
      return result
    } catch (error) {
      if (signal.aborted) return undefined
      if (!isTemporaryFailure(error)) throw error
      reach.noteWait(backoffMs)
      await pause(backoffMs, signal)
    }
  }
  return undefined
}

/** What a watch keeps when the service gets another log. */
type Watch = {
  readonly request: WatchRequest
  readonly state: SyncState
  readonly reach: Reach
  readonly notes: Notes
  readonly report: WatchReporter
  readonly signal: AbortSignal
}

/** What is uploaded, and where, by the rules of each project. The user is not asked: sessions that need confirmation are held back. */
const openRun = async ({ request, state, signal }: Watch, connectTo: ConnectTo, connection: Connection) => {
  const { server, config, visibility, namespace, redaction } = request
  const rules = await openRules({
    env: io().env,
    home: io().home,
    config,
    server,
    yes: false,
    dryRun: false,
    redaction,
    connection,
    asked: {
      ...(namespace === undefined ? {} : { namespace: connection.namespaceSlug }),
      ...(visibility && { visibility }),
    },
    connect: connectTo,
    statesOf: (opened) => state.of({ server, ...opened }),
  })
  return {
    ...rules,
    askFor: undefined,
    origins: state,
    redaction,
    live: newLiveSessions(),
    asUploader: newUploader({ stateFolder: stateDir(io().env), config, server }, { signal }),
    dryRun: false,
    force: false,
  }
}

/** The user has logged in to the service at another address. */
class ServiceMoved extends Error {
  override readonly name = 'ServiceMoved'
}

/** Watches as long as the service keeps its log and address. @throws LogReplaced when it gets another log, NotesForgotten, OtherNamespace, ServiceMoved */
const watchOneLog = async (watch: Watch): Promise<void> => {
  const { request, state, reach, notes, report, signal } = watch
  const { server, config, paths, namespace } = request
  const sleep = (ms: number) => {
    reach.noteWait(ms)
    return setTimeout(ms, undefined, { signal })
  }
  const requireSameAddress = () => {
    if (presentAddress(config, server) !== server) throw new ServiceMoved()
  }
  const connectTo: ConnectTo = async (slug) => {
    requireSameAddress()
    const lastWrite = state.lastWriteTo(server) ?? ''
    return connect({ config, server, slug, readOnly: false, tellLoss: reach.noteRemoved, lastWrite }, (url, token) =>
      newApiClient(url, token, { ...realTiming, sleep }),
    )
  }
  const connection = await retryUntilAnswered(() => connectTo(namespace), reach, signal)
  if (!connection) return
  requireChosen(connection)
  if (connection.holds === false) {
    state.forget(server)
    reach.noteReplaced()
  }
  const place = { connection, states: await state.of({ server, ...connection }) }
  const run = await openRun(watch, connectTo, connection)
  report({ type: 'start', server, namespace: connection.namespaceSlug, files: 0, bytes: 0 })
  const upload = newUploadChanges({ ...run, report, signal }, place, signal, notes)
  await watchSessions({
    searched: { agents, paths, home: { env: io().env, home: io().home } },
    upload: async (changes) => {
      requireSameAddress()
      const uploaded = await upload(changes)
      if (!uploaded.isInterrupted) reach.noteAnswer()
      return uploaded
    },
    report,
    signal,
  })
}

/** Watches until the signal is aborted. Starts over when the service gets another log, and after the state could not be written. */
const watch = async (asked: WatchRequest, report: WatchReporter, signal: AbortSignal): Promise<void> => {
  let request = asked
  let reach = newReach(request.server, report)
  const notes = newNotes(report)
  const options = { folder: stateDir(io().env), config: request.config, readOnly: false }
  let state: SyncState | undefined
  let isReplaced = false
  const watchOnce = async () => {
    state ??= openSyncState(options)
    if (isReplaced) {
      state.forget(request.server)
      reach.noteReplaced()
    }
    isReplaced = false
    await watchOneLog({ request, state, reach, notes, report, signal })
  }
  try {
    for (let backoffMs = BACKOFF_MS.first; !signal.aborted; backoffMs = Math.min(2 * backoffMs, BACKOFF_MS.longest))
      try {
        return await watchOnce()
      } catch (error) {
        isReplaced ||= error instanceof LogReplaced
        if (error instanceof LogReplaced || error instanceof NotesForgotten || error instanceof OtherNamespace) continue
        if (error instanceof ServiceMoved) {
          request = { ...request, server: presentAddress(request.config, request.server) }
          reach = newReach(request.server, report)
          continue
        }
        if (!(error instanceof StateFailed)) throw error
        notes.noteFailure(error)
        await pause(backoffMs, signal)
      }
  } finally {
    state?.close()
  }
}

const locked = async ({ config, server }: WatchRequest) => {
  const place = { stateFolder: stateDir(io().env), config, server }
  const lock = await lockWatch(place)
  if (lock) return lock
  const other = await runningWatcher(place)
  const which = other ? `, by process ${other.pid} since ${shortTime(other.since)}` : ''
  throw new UsageError(`The sessions of this machine are already being watched for ${server}${which}.`)
}

/**
 * `tracebook sync --watch`: uploads each change of a session soon after it was written, until a signal.
 * @throws UsageError if this user watches for the server already, or is not logged in
 */
export const syncWatch = async (request: WatchRequest): Promise<number> => {
  const log = request.logFile === undefined ? undefined : logFile(request.logFile)
  // Reporters only write lines, so a log file can take the place of a stream.
  const output = { out: log ?? io().stdout, err: log ?? io().stderr } as Output
  // The reader of a pipe has exited, as "head" does.
  io().stdout.on('error', () => process.exit(exitCodes.ok))
  try {
    const lock = await locked(request)
    try {
      await watch(request, (request.json ? watchJsonReporter : watchLineReporter)(output), endingSignal())
    } finally {
      await lock.release()
    }
    return exitCodes.ok
  } catch (error) {
    log?.write(errorMessage(error))
    throw error
  }
}
