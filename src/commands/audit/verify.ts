import { readFile } from 'node:fs/promises'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/named-file.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { BadBundle, Bundle, type ProvenFacts, checkBundle, describeProven } from '../../server/proof/bundle.ts'
import { type Loss, parseLoss } from '../../server/proof/losses.ts'
import { parseVerifier } from '../../server/proof/note.ts'
import { verifyServer } from './verify-server.ts'

type Options = {
  readonly server?: string | true
  readonly offline?: string
  readonly key?: string
  readonly acceptLost: readonly string[]
  readonly acceptKey: readonly string[]
  readonly acceptLog: readonly string[]
  readonly requireKept?: boolean
  readonly json?: boolean
}

const readBundle = async (path: string): Promise<Bundle> => {
  const text = await readFile(path, 'utf8').catch(explainMissingFile(path))
  try {
    return Bundle.parse(JSON.parse(text))
  } catch (error) {
    throw new BadBundle(`${path} is not a bundle of \`tracebook audit proof\``, { cause: error })
  }
}

const provenDocument = ({ origin, event, index, size, key }: ProvenFacts, isKnownKey: boolean) => {
  const { id, stream, type } = event
  return { type: 'proven', origin, index, size, key, isKnownKey, event: { id, stream, type } }
}

/** Checks a bundle without the service, and prints what it proves. */
const verifyOffline = async (
  path: string,
  { key, json = false }: { readonly key?: string; readonly json?: boolean },
): Promise<number> => {
  try {
    const proven = checkBundle(await readBundle(path), key)
    const isKnownKey = key !== undefined
    await (json
      ? printDocument(provenDocument(proven, isKnownKey))
      : printLines(describeProven(proven, isKnownKey).split('\n')))
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof BadBundle)) throw error
    const reason = error.message
    await (json ? printDocument({ type: 'refused', reason }) : printLines([`NOT proven: ${reason}`]))
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
const assertUsable = ({ server, offline, key, acceptKey, requireKept }: Options) => {
  if (key !== undefined) assertKey('--key', key)
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
  if (server !== undefined) return verifyServer(server === true ? undefined : server, options)
  // With much that only the service has: the client goes without it.
  const { verifyDatabase } = await import('./verify-database.ts')
  return verifyDatabase({ ...options, acceptedLosses })
}
