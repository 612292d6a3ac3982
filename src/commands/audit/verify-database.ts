import { io } from '../../cli/io.ts'
import { escapeControls } from '../../base/escape.ts'
import { exitCodes } from '../../cli/exit.ts'
import { atMostEvery, printDocument, printLines, say } from '../../cli/output.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { openLog } from '../../eventstore/log/open-log.ts'
import { readPresentSigner } from '../../server/proof/keys.ts'
import { type Loss, lossText } from '../../server/proof/losses.ts'
import { parseVerifier } from '../../server/proof/note.ts'
import { TreeDiffers } from '../../server/proof/stored-tree.ts'
import { type Finding, describeFinding, findingJson } from '../../server/proof/verify/findings.ts'
import type { EventSource } from '../../server/proof/verify/hashed-event.ts'
import { logEvents } from '../../server/proof/verify/log-events.ts'
import { openPostgresEvents } from '../../server/proof/verify/postgres-events.ts'
import { type TrustedKeys, type VerifyResult, verifyLog } from '../../server/proof/verify/verify-log.ts'
import { type KeptCheckpoint, NOTHING_KEPT, readKept, writeKept } from './kept-checkpoint.ts'
import { otherLogProblem } from './other-log.ts'
import { KEY_UNKNOWN, trustedKeys } from './trusted-keys.ts'
import { withDatabase } from '../support/database.ts'

type DatabaseOptions = {
  readonly key?: string
  readonly acceptKey: readonly string[]
  readonly acceptLog: readonly string[]
  readonly acceptedLosses: readonly Loss[]
  readonly requireKept?: boolean
  readonly json?: boolean
}

const PROGRESS_MS = 2_000

/** Prints the progress on stderr every two seconds. */
const newProgress = () => {
  const started = performance.now()
  return atMostEvery(PROGRESS_MS, (done: number, of: number) => {
    const rate = Math.round(done / ((performance.now() - started) / 1_000))
    say(`${done} events, ${Math.floor((100 * done) / Math.max(of, done))} %, ${rate} a second`)
  })
}

const openEvents = async (url: string, { EVENTSTORE_URL }: Config): Promise<EventSource> =>
  EVENTSTORE_URL
    ? logEvents(await openLog({ databaseUrl: url, eventStoreUrl: EVENTSTORE_URL }))
    : openPostgresEvents(url)

/** Prints and counts findings; an accepted loss is printed, but not counted. */
const newPrinter = ({ json = false }: DatabaseOptions) => {
  let found = 0
  const report = (finding: Finding) => {
    if (!finding.isAccepted) found += 1
    io().stdout.write(`${escapeControls(json ? findingJson(finding) : describeFinding(finding))}\n`)
  }
  return { report, found: () => found }
}

const printLosses = async (losses: readonly Loss[], { json = false }: DatabaseOptions) => {
  for (const loss of losses) {
    const { epoch, count } = loss
    const accept = lossText(loss)
    const said = `${count} events are recorded as lost. If the service has reported this loss in the same words, add:`
    await (json
      ? printDocument({ type: 'loss', epoch, events: count, accept })
      : printLines([said, `  --accept-lost ${accept}`]))
  }
}

const printRefusal = (reason: string, { json = false }: DatabaseOptions, more: object = {}) =>
  json ? printDocument({ type: 'refused', ...more, reason }) : printLines([`REFUSED: ${reason}`])

const refuse = async (reason: string, options: DatabaseOptions, findings = 1): Promise<number> => {
  await printRefusal(reason, options, { findings })
  return exitCodes.found
}

/** What is known of the log from other sources. */
type Known = {
  readonly logId: string
  readonly kept: KeptCheckpoint | undefined
  readonly keys: TrustedKeys | undefined
}

const readKnown = async (config: Config, logId: string, { key, acceptKey }: DatabaseOptions): Promise<Known> => {
  const kept = await readKept(logId)
  const signer = await readPresentSigner(config, config.DATABASE_URL ? undefined : config.DATA_DIR)
  return { logId, kept, keys: trustedKeys({ given: key, accepted: acceptKey, signer, kept }) }
}

const refuseFound = (found: number, options: DatabaseOptions): Promise<number> => {
  const reason = `the check found ${found} ${found === 1 ? 'problem' : 'problems'}`
  return refuse(reason, options, found)
}

/** Keeps the newest checkpoint for the next check, and prints the result. */
const conclude = async (verified: VerifyResult, { logId, kept, keys: known }: Known, options: DatabaseOptions) => {
  const { events, leaves, checkpoint, keys } = verified
  const { size, key } = checkpoint ?? {}
  if (checkpoint) {
    const shown = { log: logId, origin: parseVerifier(checkpoint.key).name, key: checkpoint.key }
    const other = await otherLogProblem(shown, { acceptLog: options.acceptLog, keys: known })
    if (other !== undefined) return refuse(other, options)
    await writeKept({ ...shown, keys: [...keys], note: checkpoint.note })
  }
  const before = kept ? `It continues the kept checkpoint of size ${kept.size}.` : NOTHING_KEPT
  if (options.json) await printDocument({ type: 'verified', events, leaves, size, key, from: kept?.size })
  else
    await printLines([
      `Verified: ${events} events, ${leaves} leaves. ${before}`,
      checkpoint ? `Kept the checkpoint of size ${size}, signed by ${key}` : 'The log has no signed checkpoint yet.',
      ...(checkpoint && !known ? [KEY_UNKNOWN] : []),
    ])
  return exitCodes.ok
}

/** A tree that cannot be read is a finding, too. */
const refuseDamaged = (error: unknown, options: DatabaseOptions): Promise<number> => {
  if (!(error instanceof TreeDiffers)) throw error
  return refuse(error.message, options)
}

const check = async (url: string, events: EventSource, config: Config, options: DatabaseOptions): Promise<number> => {
  const logId = await events.logId()
  const known = await readKnown(config, logId, options)
  const { kept, keys } = known
  if (!kept && options.requireKept) {
    await printRefusal(NOTHING_KEPT, options)
    return exitCodes.nothingKept
  }
  const { report, found } = newPrinter(options)
  const { acceptedLosses } = options
  const verified = await verifyLog({ url, events, kept, keys, acceptedLosses, report, progress: newProgress() })
  await printLosses(verified.losses, options)
  const { checkpoint } = verified
  if (kept && checkpoint && kept.key !== checkpoint.key)
    say(`The key has been replaced: ${kept.key} by ${checkpoint.key}`)
  return found() > 0 ? refuseFound(found(), options) : conclude(verified, known, options)
}

/** Checks the log of DATABASE_URL, or of DATA_DIR, event by event. */
export const verifyDatabase = async (options: DatabaseOptions): Promise<number> => {
  const config = readConfig(io().env)
  const work = async (url: string) => {
    const events = await openEvents(url, config)
    return check(url, events, config, options).finally(() => events.close())
  }
  return withDatabase(config, work).catch((error: unknown) => refuseDamaged(error, options))
}
