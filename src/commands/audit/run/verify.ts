import { UsageError } from '../../../cli/exit.ts'
import { type Loss, parseLoss } from '../../../proof/losses.ts'
import { parseVerifier } from '../../../proof/note.ts'
import { verifyDatabase } from '../verify-database.ts'
import { verifyOffline } from '../verify-offline.ts'
import { verifyServer } from '../verify-server.ts'

export type Options = {
  readonly server?: string | true
  readonly offline?: string
  readonly key?: string
  readonly acceptLost: readonly string[]
  readonly acceptKey: readonly string[]
  readonly acceptLog: readonly string[]
  readonly requireKept?: boolean
  readonly json?: boolean
}

/** @throws UsageError */
const lossesOf = ({ acceptLost }: Options): Loss[] =>
  acceptLost.map((text) => {
    const loss = parseLoss(text)
    if (loss) return loss
    throw new UsageError(`--accept-lost: "${text}" is no loss: EPOCH:FROM-TO:COUNT:DIGEST, as the service has said it`)
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
  if (server !== undefined) throw new UsageError('--offline needs no --server')
  if (requireKept) throw new UsageError('--offline compares with nothing that was kept: leave --require-kept out')
}

export const verify = (options: Options): Promise<number> => {
  const { server, offline } = options
  assertUsable(options)
  const acceptedLosses = lossesOf(options)
  if (offline !== undefined) return verifyOffline(offline, options)
  if (server !== undefined) return verifyServer(server === true ? undefined : server, options)
  return verifyDatabase({ ...options, acceptedLosses })
}
