import { readFile } from 'node:fs/promises'
import { UsageError } from '../../../cli/exit.ts'
import { explainMissingFile } from '../../../cli/named-file.ts'
import type { Evidence } from '../../../contract/evidence.ts'
import type { ProofsClient } from '../../../client/api/proofs.ts'
import { openCheckpoint } from '../../../server/proof/checkpoint.ts'
import { BadEvidence } from '../../../server/proof/evidence/bad-evidence.ts'
import { BadNote, type Verifier } from '../../../server/proof/note.ts'

/** A checkpoint that was kept. */
export type Kept = { readonly note: string; readonly size: number }

const sizeOf = (path: string, note: string, verifier: Verifier): number => {
  try {
    return openCheckpoint(note, verifier).size
  } catch (error) {
    if (!(error instanceof BadNote)) throw error
    throw new UsageError(`--since: ${path} is no checkpoint that the key of this log has signed: ${error.message}`)
  }
}

/** @throws UsageError for a file that is no checkpoint of this log, or that of an empty one */
export const readKeptFile = async (path: string, verifier: Verifier): Promise<Kept> => {
  const note = await readFile(path, 'utf8').catch(explainMissingFile(path))
  const size = sizeOf(path, note, verifier)
  if (size === 0) throw new UsageError(`--since: ${path} is of an empty log, which every log continues.`)
  return { note, size }
}

/** The kept checkpoint, with the proof that the log has continued it. @throws BadEvidence if the log has fewer events now */
export const provePrevious = async (
  client: Pick<ProofsClient, 'consistency'>,
  { note, size }: Kept,
  now: number,
): Promise<Evidence['log']['previous']> => {
  if (size > now) throw new BadEvidence(6, 'checkpoint', `it is of ${size} events, and the log has ${now}`)
  return { checkpoint: note, proof: await client.consistency(size, now) }
}
