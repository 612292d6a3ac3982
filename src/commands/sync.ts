import { io } from '../cli/io.ts'
import { askToConfirm } from '../cli/ask.ts'
import { UsageError } from '../cli/exit.ts'
import { type Interrupted, untilInterrupted } from '../cli/interrupt.ts'
import { say } from '../cli/output.ts'
import { agents } from '../client/agents/index.ts'
import { type Linked, type SearchedHome, findSessionFiles, totalSize } from '../client/agents/session-files.ts'
import { newApiClient } from '../client/api/client.ts'
import { realTiming, withConnectionNotice, withPatience, withSignal } from '../client/api/retry.ts'
import { configDir, serverAddress, stateDir } from '../client/config.ts'
import { type Connection, connect, requireChosen } from '../client/login/connect.ts'
import type { TellLoss } from '../client/login/membership.ts'
import { readRedactionOptions } from '../client/redaction/options.ts'
import type { Reporter, SyncEvent } from '../client/report/events.ts'
import { newReporter, ownOutput } from '../client/report/reporters.ts'
import { newRunSoFar } from '../client/report/so-far.ts'
import { linksLeftOut } from '../client/report/text.ts'
import { keepHeapSmall } from '../client/upload/sync-files.ts'
import { terminalAsking } from '../client/rules/confirm-public.ts'
import { openRules } from '../client/rules/open.ts'
import { onlyOf } from '../client/upload/destination.ts'
import { openDuties } from '../client/state/duties.ts'
import { noStates } from '../client/state/session-states.ts'
import { newUploader } from '../client/state/uploader.ts'
import { openSyncState } from '../client/state/sync-state.ts'
import { replacedEvent } from '../client/watch/reach.ts'
import { runningWatcher, type WatchPlace } from '../client/watch/watch-lock.ts'
import { syncFiles } from '../client/upload/sync-files.ts'
import { stopReasonOf } from '../client/upload/stop-reason.ts'
import type { Visibility } from '../client/upload/upsert-trace.ts'
import { noteLoss, sayLoss } from './support/access.ts'

type Options = {
  readonly server?: string
  readonly namespace?: string
  readonly visibility?: Visibility
  readonly dryRun?: boolean
  readonly force?: boolean
  readonly strict?: boolean
  readonly redact: boolean
  readonly yes?: boolean
  readonly watch?: boolean
  readonly logFile?: string
  readonly project?: string
  readonly json?: boolean
}

/** The folders that are searched for sessions. */
const foldersOf = ({ env, home }: SearchedHome) => agents.flatMap((agent) => agent.roots(env, home))

/** Secrets are uploaded only after confirmation on a terminal. */
const confirmSecrets = async (): Promise<undefined> => {
  if (!io().stdin.isTTY) throw new UsageError('--no-redact asks for confirmation: run it in a terminal.')
  const isAgreed = await askToConfirm('Passwords, keys and tokens in your sessions will be uploaded as they are.')
  if (!isAgreed) throw new UsageError('Not confirmed: nothing was uploaded.')
}

/** Refuses early what cannot be confirmed. */
const requireTerminal = ({ visibility, dryRun, yes }: Options): void => {
  if (visibility !== 'public' || dryRun || yes || terminalAsking().isTerminal) return
  throw new UsageError(
    '--visibility public asks for confirmation: run it in a terminal, or use --yes. --dry-run shows what would be public.',
  )
}

/** Options whose effect on sessions of the future cannot be shown and confirmed. */
const refuseWithWatch = ({ dryRun, force, strict, yes, visibility, project }: Options) => {
  const given = { '--project': project, '--dry-run': dryRun, '--force': force, '--strict': strict, '--yes': yes }
  const refused = Object.entries(given)
  for (const [option, value] of refused) if (value) throw new UsageError(`--watch cannot be combined with ${option}.`)
  if (visibility === 'public')
    throw new UsageError('--watch makes nothing public: use "tracebook share" for single sessions.')
}

const watch = async (paths: readonly string[], options: Options): Promise<number> => {
  refuseWithWatch(options)
  const { namespace, visibility, logFile, json = false } = options
  const [server, config] = [serverAddress(options.server, io().env), configDir(io().env)]
  const redaction = options.redact ? await readRedactionOptions(config) : await confirmSecrets()
  const { syncWatch } = await import('./sync-watch.ts')
  return syncWatch({ paths, server, config, namespace, visibility, redaction, json, logFile })
}

/** How long requests in flight may take after an interruption. */
const GRACE_MS = 5_000

const stopping = ({ message }: Interrupted): SyncEvent => ({
  type: 'stopping',
  message: `${message}: waiting for requests in flight; press Ctrl-C again to stop at once`,
})

/** Uploads sessions. When it is interrupted, requests in flight are completed and reported. */
export const sync = async (
  options: Options,
  paths: readonly string[],
  tellLoss: TellLoss = options.dryRun ? noteLoss : sayLoss,
): Promise<number> => {
  keepHeapSmall()
  if (options.watch) return watch(paths, options)
  requireTerminal(options)
  const { dryRun = false, json = false } = options
  const { report, summary } = newRunSoFar(newReporter(ownOutput(), { json, dryRun }))
  return untilInterrupted(
    {
      graceMs: GRACE_MS,
      onFirst: (reason) => report(stopping(reason)),
      onForced: (reason) => report(summary(dryRun, stopReasonOf(reason)!)),
    },
    (signal) => syncUntil(signal, paths, options, report, tellLoss),
  )
}

/** Says who uploads if that has to be waited for, such as a watch: then what it has sent is unchanged. */
const uploaderOf = (place: WatchPlace, report: Reporter, signal: AbortSignal) => {
  const tell = async () => {
    const watcher = await runningWatcher(place).catch(() => undefined)
    const who = watcher ? `the watch uploads (process ${watcher.pid})` : 'another process of this machine uploads'
    report({ type: 'connection', state: 'waiting', message: `${who}: waiting for it` })
  }
  return newUploader(place, { onWait: () => void tell(), signal })
}

const syncUntil = async (
  signal: AbortSignal,
  paths: readonly string[],
  options: Options,
  report: Reporter,
  tellLoss: TellLoss,
): Promise<number> => {
  const { namespace, visibility, dryRun = false, force = false, strict = false, yes = false, json = false } = options
  const [server, config] = [serverAddress(options.server, io().env), configDir(io().env)]
  const redaction = options.redact ? await readRedactionOptions(config) : await confirmSecrets()
  const unreadable: { readonly file: string; readonly message: string }[] = []
  const links: Linked[] = []
  const searched = { env: io().env, home: io().home }
  const files = await findSessionFiles(agents, paths, searched, (file, message) => unreadable.push({ file, message }), {
    onLink: (linked) => links.push(linked),
  })
  const timing = withConnectionNotice(withSignal(withPatience(realTiming), signal), (state, message) =>
    report({ type: 'connection', state, message }),
  )
  const state = openSyncState({ folder: stateDir(io().env), config, readOnly: dryRun })
  const connectTo = (slug: string | undefined) => {
    const lastWrite = state.lastWriteTo(server) ?? ''
    return connect({ config, server, slug, readOnly: dryRun, tellLoss, lastWrite }, (url, token) =>
      newApiClient(url, token, timing),
    )
  }
  try {
    const connection = await connectTo(namespace)
    requireChosen(connection)
    const isReplaced = connection.holds === false
    if (isReplaced) report(replacedEvent(server))
    if (isReplaced && !dryRun) state.forget(server)
    const placeOf = (opened: Connection) => state.of({ server, ...opened })
    const rules = await openRules({
      ...searched,
      config,
      server,
      yes,
      dryRun,
      redaction,
      connection,
      asked: {
        ...(namespace === undefined ? {} : { namespace: connection.namespaceSlug }),
        ...(visibility && { visibility }),
      },
      connect: connectTo,
      statesOf: async (opened) => (isReplaced && dryRun ? noStates(openDuties(config, server)) : placeOf(opened)),
    })
    if (files.length === 0 && !json)
      say(`No session files in ${(paths.length > 0 ? paths : foldersOf(searched)).join(', ')}.`)
    report({
      type: 'start',
      server,
      namespace: connection.namespaceSlug,
      files: files.length,
      bytes: totalSize(files),
    })
    if (links.length > 0) report(linksLeftOut(links))
    for (const problem of unreadable) report({ type: 'problem', kind: 'unreadable', ...problem })
    const destinationOf = onlyOf(options.project, rules.destinationOf)
    const place = { connection, states: await placeOf(connection) }
    const asUploader = uploaderOf({ stateFolder: stateDir(io().env), config, server }, report, signal)
    const asked = { dryRun, force, strict }
    const run = { ...rules, ...asked, destinationOf, place, origins: state, asUploader, redaction, report, signal }
    return (await syncFiles(run, files, unreadable.length)).exitCode
  } finally {
    state.close()
  }
}
