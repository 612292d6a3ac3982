import { z } from 'zod'
import { exitCodes } from '../../cli/exit.ts'
import { type Checkpoint, openCheckpoint } from '../../proof/checkpoint.ts'
import { BadNote, fromBase64, parseVerifier } from '../../proof/note.ts'
import { isConsistent } from '../../proof/tree.ts'
import { serverAddress } from '../../sync/config.ts'
import { type AuditClient, openAuditClient } from './audit-client.ts'
import { EXIT_DIFFERS } from './exit-codes.ts'
import { type KeptCheckpoint, readKept, writeKept } from './kept-checkpoint.ts'

const Key = z.object({ origin: z.string(), key: z.string() })
const Consistency = z.object({ proof: z.array(z.string()) })

/** Why a newer checkpoint does not continue the one that was kept; undefined when it does. */
const forkOf = async (client: AuditClient, kept: Checkpoint, head: Checkpoint): Promise<string | undefined> => {
  if (kept.origin !== head.origin) return `it was the log ${kept.origin}, and is ${head.origin} now`
  if (head.size < kept.size) return `the newest checkpoint has size ${head.size}, but one of size ${kept.size} was kept`
  const path = `/v1/audit/consistency?from=${kept.size}&to=${head.size}`
  const proof = (await client.data(path, Consistency)).proof.map((text) => fromBase64(text) ?? Buffer.alloc(0))
  return isConsistent(kept, head, proof) ? undefined : `the log does not continue the checkpoint of size ${kept.size}`
}

export type ServerOptions = {
  readonly key?: string
  readonly json?: boolean
  readonly kept?: KeptCheckpoint | undefined
}

/** Checks by its API that the log of a server continues what was kept of it, and keeps its newest checkpoint. */
export const verifyServer = async (url: string | undefined, options: ServerOptions): Promise<number> => {
  const server = serverAddress(url, process.env)
  const client = await openAuditClient(server)
  const kept = options.kept ?? (await readKept(server))
  const { key } = await client.data('/v1/audit/key', Key)
  const note = await client.text('/v1/audit/checkpoint')
  const refuse = (reason: string): number => {
    console.log(options.json ? JSON.stringify({ type: 'refused', reason }) : `REFUSED: ${reason}`)
    return EXIT_DIFFERS
  }
  try {
    const head = openCheckpoint(note, parseVerifier(options.key ?? key))
    const fork = kept && (await forkOf(client, kept, head))
    if (fork !== undefined) return refuse(fork)
    if (kept && kept.key !== key) console.error(`the key has been replaced since: ${kept.key} by ${key}`)
    await writeKept(server, { key: options.key ?? key, note })
    const said = kept
      ? `It continues the checkpoint of size ${kept.size} that was kept.`
      : 'Nothing was kept of it before.'
    const { origin, size } = head
    console.log(
      options.json
        ? JSON.stringify({ type: 'verified', server, origin, size, key, ...(kept ? { from: kept.size } : {}) })
        : `The log ${origin} has ${size} events. ${said}\nThis checkpoint is kept now; it is signed by ${options.key ?? key}`,
    )
    return exitCodes.ok
  } catch (error) {
    if (error instanceof BadNote) return refuse(`the checkpoint is not believed: ${error.message}`)
    throw error
  }
}
