import { Command } from 'commander'
import { escapeControls } from '../../cli/escape.ts'
import { UsageError, exitCodes, exitOnUsage, runCommand } from '../../cli/exit.ts'
import { type Config, readConfig } from '../../config.ts'
import { openLog } from '../../log/open-log.ts'
import { type Loss, lossText, parseLoss } from '../../proof/losses.ts'
import { parseVerifier } from '../../proof/note.ts'
import { TreeDiffers } from '../../proof/tree-differs.ts'
import { type Finding, describeFinding, findingJson } from '../../proof/verify/findings.ts'
import type { EventSource } from '../../proof/verify/hashed-event.ts'
import { logEvents } from '../../proof/verify/log-events.ts'
import { openPostgresEvents } from '../../proof/verify/postgres-events.ts'
import { type Verified, verifyLog } from '../../proof/verify/verify-log.ts'
import { EXIT_DIFFERS } from './exit-codes.ts'
import { readKept, writeKept } from './kept-checkpoint.ts'
import { verifyOffline } from './verify-offline.ts'
import { verifyServer } from './verify-server.ts'
import { withDatabase } from './with-database.ts'

const help = `
Compares every event of the log with its leaf in the Merkle tree, and the tree with the newest signed checkpoint
and with the one that was kept at the last time. Names each event that was changed, removed, inserted, moved or
put into another order. Reads the database of the service, and changes nothing there; a service may go on.

  tracebook audit verify                                 the log of DATABASE_URL, or of DATA_DIR
  tracebook audit verify --server https://traces.example.org   by the API: that the log continues what was kept
  tracebook audit verify --offline bundle.json           what \`tracebook audit proof\` printed, without any service

The newest checkpoint is kept in the configuration folder, for the next time. Keep a copy elsewhere: who can change
the database may be able to change this folder, too.

Events that were lost with the end of the log, after a failover or with a backup, are named. When the service
misses them it says what was lost, in a line of its log; --accept-lost with the word \`accept\` of that line says
that you know of it: exactly these events may be missing then.

With --json, stdout holds one JSON document a line: {"type":"finding","kind",…} for each finding, then
{"type":"verified"|"refused",…}.

Environment:
  DATABASE_URL          the database of the service
  DATA_DIR              without DATABASE_URL: the folder of a service, whether it runs or not (default: data)
  EVENTSTORE_URL        the log, for a service that has it there
  TRACEBOOK_CONFIG_DIR  the folder for what is kept, instead of the platform's own

Exit codes:
  0  all is as it should be
  1  it could not be checked
  2  wrong usage
  3  something is not as it should be`

type Options = {
  readonly server?: string | true
  readonly offline?: string
  readonly key?: string
  readonly acceptLost: readonly string[]
  readonly json?: boolean
}

const PROGRESS_MS = 2_000

/** Prints the progress on stderr every two seconds. */
const newProgress = () => {
  const started = performance.now()
  let printedAt = started
  return (done: number, of: number) => {
    const now = performance.now()
    if (now - printedAt < PROGRESS_MS) return
    printedAt = now
    const rate = Math.round(done / ((now - started) / 1_000))
    console.error(`${done} events, ${Math.floor((100 * done) / Math.max(of, done))} %, ${rate} a second`)
  }
}

const openEvents = async (url: string, { EVENTSTORE_URL }: Config): Promise<EventSource> =>
  EVENTSTORE_URL
    ? logEvents(await openLog({ databaseUrl: url, eventStoreUrl: EVENTSTORE_URL }))
    : openPostgresEvents(url)

/** Where the log is, as the operator has named it; without a password. */
const placeOf = ({ DATABASE_URL, DATA_DIR }: Config): string => {
  if (!DATABASE_URL) return DATA_DIR
  const url = new URL(DATABASE_URL)
  url.password = ''
  return url.href
}

/** Counts what was found; what is lost and accepted is printed, but does not count. */
const newPrinter = ({ json = false }: Options) => {
  let found = 0
  const report = (finding: Finding) => {
    if (!finding.isAccepted) found += 1
    console.log(escapeControls(json ? findingJson(finding) : describeFinding(finding)))
  }
  return { report, found: () => found }
}

const printLosses = (losses: readonly Loss[], { json = false }: Options) => {
  for (const loss of losses) {
    const { epoch, count } = loss
    const accept = lossText(loss)
    if (json) console.log(JSON.stringify({ type: 'loss', epoch, events: count, accept }))
    else
      console.log(`${count} events are said to be lost. If the service has said so when it missed them, in the same words:
  --accept-lost ${accept}`)
  }
}

const conclude = async (place: string, { events, leaves, checkpoint }: Verified, found: number, json = false) => {
  if (found > 0) {
    const reason = found === 1 ? 'one thing is not as it should be' : `${found} things are not as they should be`
    console.log(json ? JSON.stringify({ type: 'refused', findings: found, reason }) : `REFUSED: ${reason}`)
    return EXIT_DIFFERS
  }
  if (checkpoint) await writeKept(place, checkpoint)
  const { size, key } = checkpoint ?? {}
  if (json) console.log(JSON.stringify({ type: 'verified', events, leaves, size, key }))
  else
    console.log(
      `Verified: ${events} events, ${leaves} leaves. ` +
        (checkpoint
          ? `The checkpoint of size ${size} is kept; it is signed by ${key}`
          : 'No checkpoint was ever signed.'),
    )
  return exitCodes.ok
}

/** What keeps the tree from being read at all is a finding, too. */
const refuseDamaged = (error: unknown, { json = false }: Options): number => {
  if (!(error instanceof TreeDiffers)) throw error
  const reason = error.message
  console.log(json ? JSON.stringify({ type: 'refused', findings: 1, reason }) : `REFUSED: ${reason}`)
  return EXIT_DIFFERS
}

const verifyHere = async (options: Options): Promise<number> => {
  const acceptedLosses = lossesOf(options)
  const config = readConfig(process.env)
  const place = placeOf(config)
  const kept = await readKept(place)
  const { report, found } = newPrinter(options)
  const verified = await withDatabase(config, async (url) => {
    const events = await openEvents(url, config)
    return verifyLog({ url, events, kept, key: options.key, acceptedLosses, report, progress: newProgress() }).finally(
      () => events.close(),
    )
  })
  printLosses(verified.losses, options)
  const { checkpoint } = verified
  if (kept && checkpoint && kept.key !== checkpoint.key)
    console.error(`the key has been replaced since: ${kept.key} by ${checkpoint.key}`)
  return conclude(place, verified, found(), options.json)
}

/** @throws UsageError */
const lossesOf = ({ acceptLost }: Options): Loss[] =>
  acceptLost.map((text) => {
    const loss = parseLoss(text)
    if (loss) return loss
    throw new UsageError(`--accept-lost: "${text}" is no loss: EPOCH:FROM-TO:COUNT:DIGEST, as the service has said it`)
  })

const assertKey = (key: string) => {
  try {
    parseVerifier(key)
  } catch (error) {
    throw new UsageError(`--key: ${(error as Error).message}`, { cause: error })
  }
}

const verify = (options: Options): Promise<number> => {
  const { server, offline, key, json } = options
  if (key !== undefined) assertKey(key)
  const more = { ...(key === undefined ? {} : { key }), ...(json === undefined ? {} : { json }) }
  if (offline !== undefined && server !== undefined) throw new UsageError('--offline needs no --server')
  if (offline !== undefined) return verifyOffline(offline, more)
  if (server !== undefined) return verifyServer(server === true ? undefined : server, more)
  return verifyHere(options).catch((error: unknown) => refuseDamaged(error, options))
}

const collect = (value: string, before: readonly string[]) => [...before, value]

/** `tracebook audit verify` */
export const verifyCommand = (): Command =>
  new Command('verify')
    .description('Check the log against its Merkle tree and its signed checkpoints, or a bundle against its key')
    .option('--server [url]', 'check a service by its API (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')
    .option('--offline <bundle>', 'check a bundle of `tracebook audit proof`, without any service')
    .option('--key <key>', 'the public key of the log, as you know it: <name>+<hash>+<base64>')
    .option('--accept-lost <loss>', 'what the service said that the log has lost; may be repeated', collect, [])
    .option('--json', 'JSON on stdout, a document a line')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action((options: Options) => runCommand(async () => verify(options), options.json))
