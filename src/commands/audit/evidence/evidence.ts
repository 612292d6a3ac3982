import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../../base/version.ts'
import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { stoppable } from '../../../cli/interrupt.ts'
import { say } from '../../../cli/output.ts'
import { EVIDENCE_FORMAT, type EvidenceEvent } from '../../../contract/evidence.ts'
import { hasStatus } from '../../../client/api/errors.ts'
import { type ProofsClient, type ProvenMessageEvent, newProofsClient } from '../../../client/api/proofs.ts'
import { withSignal } from '../../../client/api/retry.ts'
import { openCheckpoint } from '../../../server/proof/checkpoint.ts'
import { type EvidenceIndex, newEvidenceIndex, toEvidenceEvent } from '../../../server/proof/evidence/assemble.ts'
import { BadEvidence } from '../../../server/proof/evidence/bad-evidence.ts'
import { type CheckedEvidence, type EvidenceFrame, beginCheck } from '../../../server/proof/evidence/check.ts'
import { type Verifier, parseVerifier } from '../../../server/proof/note.ts'
import { type ClientOptions, connectLogin, openAccess, patientTiming } from '../../support/access.ts'
import { type AuditClient, openAuditClient } from '../audit-client.ts'
import { type Tree, collectProofs } from './collect.ts'
import { type Deletion, proveDeletions, readDeletions } from './deletions.ts'
import { assertNew, giveEvidence } from './file.ts'
import { type WantedSessions, withoutMessages } from './lines.ts'
import { type Patience, newPatience } from './patience.ts'
import { type Kept, provePrevious, readKeptFile } from './previous.ts'
import { readLines } from './repository.ts'
import { type Spool, openSpool } from './spool.ts'
import { type Wanted, type WantedOptions, findWanted, newCount } from './wanted.ts'

type Options = ClientOptions &
  WantedOptions & {
    readonly hashes?: boolean
    readonly hide: readonly string[]
    readonly since?: string
    readonly output?: string
  }

/** What all steps of the work need. */
type Work = {
  readonly client: ProofsClient
  readonly audit: AuditClient
  readonly patience: Patience
  readonly verifier: Verifier
  /** The checkpoint of --since. */
  readonly kept: Kept | undefined
  readonly options: Options
  readonly signal: AbortSignal
}

/** @throws Error if the service has no key */
const readKey = async (client: ProofsClient): Promise<Verifier> => {
  const { key } = await client.key().catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error
    throw new Error(
      'This service signs no checkpoints, so it cannot prove anything: its operator has to give it a key.',
      { cause: error },
    )
  })
  return parseVerifier(key)
}

/** Nobody hides a message by a mistyped id. @throws UsageError */
const assertHidden = ({ hide }: Options, { sessions }: Wanted) => {
  for (const id of hide)
    if (!sessions.all.some(({ messages }) => messages.has(id)))
      throw new UsageError(`--hide: the file would have no message with the id "${id}" anyway.`)
}

/** The newest checkpoint: that of a file without sessions. */
const newestTree = async ({ audit, verifier }: Work): Promise<Tree> => {
  const checkpoint = await audit.text('/v1/audit/checkpoint')
  return { size: openCheckpoint(checkpoint, verifier).size, checkpoint }
}

/** The events are in the spool; here is what joins them. */
type Events = {
  readonly tree: Tree
  readonly index: EvidenceIndex
  /** Messages that are left out. */
  readonly isTooLarge: (session: number, message: string) => boolean
}

const largeText = (count: number) => (count === 1 ? '1 message that has' : `${count} messages that each have`)

/** Collects the events of sessions in one tree. @throws SessionChanged, RequestFailed, Error */
const collectSessions = async (work: Work, { all }: WantedSessions, spool: Spool): Promise<Events> => {
  const { options, signal } = work
  const hidden = new Set(options.hide)
  const toEvent = (event: ProvenMessageEvent) =>
    toEvidenceEvent(event, options.hashes === true || (event.message !== undefined && hidden.has(event.message)))
  let index = newEvidenceIndex()
  const tooLarge = new Set<string>()
  const keyOf = (session: number, message: string) => `${session} ${message}`
  const tree = await collectProofs(work, all, {
    take: (session, events) => {
      signal.throwIfAborted()
      return spool.add(index.add(session, events).map(toEvent))
    },
    tooLarge: (session, message) => void tooLarge.add(keyOf(session, message)),
    restart: async () => {
      index = newEvidenceIndex()
      tooLarge.clear()
      await spool.clear()
    },
    done: newCount('sessions', all.length),
  })
  if (tooLarge.size > 0) say(`Left out: ${largeText(tooLarge.size)} more than 8 MiB in the log.`)
  const isTooLarge = (session: number, message: string) => tooLarge.has(keyOf(session, message))
  return { tree: tree ?? (await newestTree(work)), index, isTooLarge }
}

/** The file without its events. @throws BadEvidence if the log has fewer events than the kept checkpoint */
const frameOf = async (
  { client, verifier, kept }: Work,
  { commits, sessions: { all } }: Wanted,
  { tree, index, isTooLarge }: Events,
): Promise<EvidenceFrame> => {
  const sessions = all.map(({ messages: _, at: __, ...session }) => session)
  const previous = kept && (await provePrevious(client, kept, tree.size))
  return {
    format: EVIDENCE_FORMAT,
    madeAt: Date.now(),
    madeBy: `tracebook ${version}`,
    log: {
      origin: verifier.name,
      key: verifier.text,
      checkpoint: tree.checkpoint,
      ...(previous === undefined ? {} : { previous }),
    },
    ...index.lists(
      sessions,
      commits.map((commit) => withoutMessages(commit, isTooLarge)),
    ),
  }
}

/** Everything but the events, which are in the spool, and their order. */
type Collected = { readonly frame: EvidenceFrame; readonly indexes: readonly number[] }

/** Collects what the file is made of. @throws SessionChanged, BadEvidence, RequestFailed, Error */
const collect = async (
  work: Work,
  wanted: Wanted,
  deletions: readonly Deletion[],
  spool: Spool,
): Promise<Collected> => {
  const events = await collectSessions(work, wanted.sessions, spool)
  const { tree, index } = events
  for (const { traceId, ...event } of await proveDeletions(work.audit, deletions, tree.size))
    if (index.addDeletion(traceId, event.index)) await spool.add([toEvidenceEvent(event, work.options.hashes)])
  return { frame: await frameOf(work, wanted, events), indexes: index.indexes() }
}

/** Checks the file while it is written, by all steps of a verifier. @throws BadEvidence */
const give = async (
  { verifier, options, signal }: Work,
  { repository }: Wanted,
  { frame, indexes }: Collected,
  { folder, spool }: { readonly folder: string; readonly spool: Spool },
): Promise<CheckedEvidence> => {
  const linesOf = repository && (await readLines(repository, frame.commits))
  const check = beginCheck(frame, { key: verifier.text, linesOf })
  const events = async function* () {
    for (const index of indexes) {
      signal.throwIfAborted()
      const text = await spool.read(index)
      check.event(JSON.parse(text) as EvidenceEvent)
      yield text
    }
  }
  let checked: CheckedEvidence | undefined
  await giveEvidence({ output: options.output, folder, check: () => void (checked = check.end()) }, frame, events())
  return checked!
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`

const summary = ({ commits, lines: { of }, sessions, events, size }: CheckedEvidence): string =>
  [
    ...(commits.length > 0 ? [`${counted(of, 'line')} of ${counted(commits.length, 'commit')}`] : []),
    counted(sessions.length, 'session'),
    `${counted(events.length, 'event')} of the ${size} in the log`,
  ].join(', ')

const make = async (options: Options, names: readonly string[], signal: AbortSignal): Promise<number> => {
  const { output } = options
  if (output !== undefined) await assertNew(output)
  const access = openAccess(options)
  const { token } = await connectLogin(access)
  const client = newProofsClient(access.server, token, withSignal(patientTiming, signal))
  const audit = await openAuditClient(access.server)
  const verifier = await readKey(client)
  const kept = options.since === undefined ? undefined : await readKeptFile(options.since, verifier)
  const work: Work = { client, audit, patience: newPatience(signal), verifier, kept, options, signal }
  const wanted = await findWanted(access, options, names, signal)
  assertHidden(options, wanted)
  const deletions = options.deleted.length > 0 ? await readDeletions(work, await wanted.slug(), options.deleted) : []
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-evidence-'))
  try {
    const spool = await openSpool(join(folder, 'events'))
    try {
      const collected = await collect(work, wanted, deletions, spool)
      const checked = await give(work, wanted, collected, { folder, spool })
      say(`${output ?? 'Evidence'}: ${summary(checked)}.`)
    } finally {
      await spool.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return exitCodes.ok
}

/** Makes a file that leads from lines of commits, sessions and deletions to events of the log. */
export const evidence = (options: Options, names: readonly string[]): Promise<number> =>
  stoppable(async (signal) => {
    try {
      return await make(options, names, signal)
    } catch (error) {
      if (!(error instanceof BadEvidence)) throw error
      say(`REFUSED: what the service answered proves nothing, and no file was written: ${error.message}`)
      return exitCodes.found
    }
  })
