import { io } from '../../cli/io.ts'
import { z } from 'zod'
import { exitCodes } from '../../cli/exit.ts'
import { printDocument, printLines, say } from '../../cli/output.ts'
import { type Checkpoint, openCheckpoint } from '../../server/proof/checkpoint.ts'
import { BadNote, fromBase64, parseVerifier } from '../../server/proof/note.ts'
import { isConsistent } from '../../server/proof/tree.ts'
import type { TrustedKeys } from '../../server/proof/verify/verify-log.ts'
import { serverAddress } from '../../client/config.ts'
import { type AuditClient, openAuditClient } from './audit-client.ts'
import { type KeptCheckpoint, NOTHING_KEPT, readKept, writeKept } from './kept-checkpoint.ts'
import { KEPT_STAYS, otherLogProblem } from './other-log.ts'
import { KEY_UNKNOWN, trustedKeys } from './trusted-keys.ts'

const Keys = z.object({
  origin: z.string(),
  logId: z.string(),
  key: z.string(),
  keys: z.array(z.object({ key: z.string() })),
})
type Keys = z.infer<typeof Keys>
const Consistency = z.object({ proof: z.array(z.string()) })

/**
 * Why a newer checkpoint does not continue the kept one; undefined if it does. The name of a key is the origin of the log, so
 * accepting a key accepts its origin, too.
 */
const forkOf = async (
  client: AuditClient,
  kept: Checkpoint,
  head: Checkpoint,
  isOriginAccepted: boolean,
): Promise<string | undefined> => {
  if (kept.origin !== head.origin && !isOriginAccepted)
    return `the origin of the log was ${kept.origin}, and is now ${head.origin}`
  if (head.size < kept.size)
    return `the log has lost its end, for example with a restored backup: its newest checkpoint has size ${head.size}, the kept one has size ${kept.size}. ${KEPT_STAYS}`
  const path = `/v1/audit/consistency?from=${kept.size}&to=${head.size}`
  const proof = (await client.data(path, Consistency)).proof.map((text) => fromBase64(text) ?? Buffer.alloc(0))
  if (isConsistent(kept, head, proof)) return undefined
  return `the log does not continue the kept checkpoint of size ${kept.size}: events before it were changed, or were lost, for example with a restored backup, and replaced by others. ${KEPT_STAYS}`
}

type ServerOptions = {
  readonly key?: string
  readonly acceptKey: readonly string[]
  readonly acceptLog: readonly string[]
  readonly requireKept?: boolean
  readonly json?: boolean
}

/** Why the keys of a log are refused; undefined if they are trusted, or no key is known. */
const keyProblem = (
  { key, keys }: Keys,
  kept: KeptCheckpoint | undefined,
  trusted: TrustedKeys | undefined,
): string | undefined => {
  if (!trusted) return undefined
  if (!trusted.isCurrent(key))
    return `the log is signed by another key than the known one: ${key}; to accept it as the new key, use --accept-key`
  const unknown = keys.find((one) => !trusted.isFormer(one.key))
  if (unknown)
    return `the log was signed by an unknown key: ${unknown.key}; to accept it as a former key, use --accept-key`
  if (kept && !keys.some((one) => one.key === kept.key))
    return `the key that signed the kept checkpoint is not in the history of keys: ${kept.key}`
  return undefined
}

/** Checks by the API that the log of a server continues its kept checkpoint, and keeps its newest one. */
export const verifyServer = async (url: string | undefined, options: ServerOptions): Promise<number> => {
  const server = serverAddress(url, io().env)
  const client = await openAuditClient(server)
  const refuse = async (reason: string, code: number = exitCodes.found): Promise<number> => {
    await (options.json ? printDocument({ type: 'refused', reason }) : printLines([`REFUSED: ${reason}`]))
    return code
  }
  const history = await client.data('/v1/audit/key', Keys)
  const { logId, key } = history
  const kept = await readKept(logId)
  const keys = trustedKeys({ given: options.key, accepted: options.acceptKey, kept })
  const shown = { log: logId, origin: history.origin, key, address: server }
  const other = await otherLogProblem(shown, { acceptLog: options.acceptLog, keys })
  if (other !== undefined) return refuse(other)
  if (!kept && options.requireKept) return refuse(NOTHING_KEPT, exitCodes.nothingKept)
  const problem = keyProblem(history, kept, keys)
  if (problem !== undefined) return refuse(problem)
  const note = await client.text('/v1/audit/checkpoint')
  try {
    const head = openCheckpoint(note, parseVerifier(key))
    if (head.origin !== history.origin)
      throw new BadNote(`its origin is ${head.origin}, but that of the key is ${history.origin}`)
    const fork = kept && (await forkOf(client, kept, head, options.acceptKey.includes(key)))
    if (fork !== undefined) return await refuse(fork)
    if (kept && kept.key !== key) say(`The key has been replaced: ${kept.key} by ${key}`)
    const { origin, size } = head
    const said = kept ? `It continues the kept checkpoint of size ${kept.size}.` : NOTHING_KEPT
    await writeKept({ log: logId, origin, key, keys: history.keys.map((one) => one.key), note }, server)
    const isKeyKnown = kept !== undefined || options.key !== undefined || options.acceptKey.length > 0
    if (options.json)
      await printDocument({ type: 'verified', server, origin, size, key, ...(kept ? { from: kept.size } : {}) })
    else
      await printLines([
        `The log ${origin} has ${size} events. ${said}`,
        `Kept this checkpoint, signed by ${key}`,
        ...(isKeyKnown ? [] : [KEY_UNKNOWN]),
      ])
    return exitCodes.ok
  } catch (error) {
    if (error instanceof BadNote) return refuse(`the checkpoint is invalid: ${error.message}`)
    throw error
  }
}
