import { constants } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { io } from '../../cli/io.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/named-file.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { BadBundle, Bundle, type ProvenFacts, checkBundle, describeProven } from '../../server/proof/bundle.ts'
import { type Loss, parseLoss } from '../../server/proof/losses.ts'
import { openRepository } from '../../client/git/open-repository.ts'
import { EVIDENCE_FORMATS } from '../../contract/evidence.ts'
import { BadEvidence } from '../../server/proof/evidence/bad-evidence.ts'
import { beginCheck, evidenceIn, jsonIn } from '../../server/proof/evidence/check.ts'
import { describeEvidence, evidenceDocument } from '../../server/proof/evidence/describe.ts'
import { parseVerifier } from '../../server/proof/note.ts'
import { readLines } from './evidence/repository.ts'

type Options = {
  readonly server?: string | true
  readonly offline?: string
  readonly key?: string
  readonly repo?: string
  readonly acceptLost: readonly string[]
  readonly acceptKey: readonly string[]
  readonly acceptLog: readonly string[]
  readonly requireKept?: boolean
  readonly json?: boolean
}

type OfflineOptions = Pick<Options, 'key' | 'repo' | 'json'>

const readBundle = (path: string, value: unknown): Bundle => {
  const { data, error } = Bundle.safeParse(value)
  if (data) return data
  const reason = `${path} is neither a bundle of \`tracebook audit proof\` nor a file of \`tracebook audit evidence\``
  throw new BadBundle(reason, { cause: error })
}

const provenDocument = ({ origin, event, index, size, key }: ProvenFacts, isKnownKey: boolean) => {
  const { id, stream, type } = event
  return { type: 'proven', origin, index, size, key, isKnownKey, event: { id, stream, type } }
}

const verifyBundle = async (bundle: Bundle, { key, json }: OfflineOptions): Promise<void> => {
  const proven = checkBundle(bundle, key)
  const isKnownKey = key !== undefined
  await (json
    ? printDocument(provenDocument(proven, isKnownKey))
    : printLines(describeProven(proven, isKnownKey).split('\n')))
}

const verifyEvidence = async (value: unknown, { key, repo, json }: OfflineOptions): Promise<void> => {
  const { events, ...frame } = evidenceIn(value)
  const repository = repo === undefined ? undefined : await openRepository(resolve(io().cwd, repo), io().env)
  const check = beginCheck(frame, { key, linesOf: repository && (await readLines(repository, frame.commits)) })
  for (const event of events) check.event(event)
  const found = check.end()
  await (json ? printDocument(evidenceDocument(found)) : printLines(describeEvidence(found, repository !== undefined)))
}

const isEvidence = (value: unknown): boolean => {
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  return typeof format === 'string' && format.startsWith(EVIDENCE_FORMATS)
}

/** Checks a bundle or an evidence file without the service, and prints what it proves. */
const verifyOffline = async (path: string, options: OfflineOptions): Promise<number> => {
  const bytes = await readFile(path).catch(explainMissingFile(path))
  if (bytes.length > constants.MAX_STRING_LENGTH) throw new Error(`${path} is too large to be checked at once.`)
  try {
    const value = jsonIn(bytes)
    await (isEvidence(value) ? verifyEvidence(value, options) : verifyBundle(readBundle(path, value), options))
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof BadBundle || error instanceof BadEvidence)) throw error
    const reason = error.message
    const step = error instanceof BadEvidence ? { step: error.step, place: error.place } : {}
    await (options.json ? printDocument({ type: 'refused', reason, ...step }) : printLines([`NOT proven: ${reason}`]))
    return exitCodes.found
  }
}

/** @throws UsageError */
const lossesOf = ({ acceptLost }: Options): Loss[] =>
  acceptLost.map((text) => {
    const loss = parseLoss(text)
    if (loss) return loss
    throw new UsageError(
      `--accept-lost: "${text}" is not a loss. Copy it from the log of the service: EPOCH:FROM-TO:COUNT:DIGEST.`,
    )
  })

const assertKey = (option: string, key: string) => {
  try {
    parseVerifier(key)
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`, { cause: error })
  }
}

/** @throws UsageError */
const assertUsable = ({ server, offline, key, repo, acceptKey, requireKept }: Options) => {
  if (key !== undefined) assertKey('--key', key)
  if (repo !== undefined && offline === undefined) throw new UsageError('--repo needs --offline.')
  for (const one of acceptKey) assertKey('--accept-key', one)
  if (offline === undefined) return
  if (server !== undefined) throw new UsageError('Use only one of --offline and --server.')
  if (requireKept) throw new UsageError('--offline does not compare with a kept checkpoint: leave out --require-kept.')
}

export const verify = async (options: Options): Promise<number> => {
  const { server, offline } = options
  assertUsable(options)
  const acceptedLosses = lossesOf(options)
  if (offline !== undefined) return verifyOffline(offline, options)
  if (server !== undefined) {
    const { verifyServer } = await import('./verify-server.ts') // a file is checked without the client
    return verifyServer(server === true ? undefined : server, options)
  }
  // With much that only the service has: the client goes without it.
  const { verifyDatabase } = await import('./verify-database.ts')
  return verifyDatabase({ ...options, acceptedLosses })
}
