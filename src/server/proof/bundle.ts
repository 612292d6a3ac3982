import { z } from 'zod'
import { metadataOf } from '../../eventstore/log/metadata.ts'
import { openCheckpoint } from './checkpoint.ts'
import { type Entry, parseEntry } from './entry.ts'
import { BadKey, BadNote, fromBase64, parseVerifier } from './note.ts'
import { HASH_BYTES, leafHash, rootByInclusion } from './tree.ts'

/** A proof that an event is in a log, with the log's key. It can be checked without the service. */
export const Bundle = z.object({
  entry: z.string(),
  index: z.int().min(0),
  size: z.int().min(0),
  proof: z.array(z.string()),
  checkpoint: z.string(),
  key: z.string(),
})
export type Bundle = z.infer<typeof Bundle>

/** An invalid bundle. */
export class BadBundle extends Error {
  override readonly name = 'BadBundle'
}

/** The facts that a bundle proves. */
export type ProvenFacts = {
  readonly origin: string
  readonly event: Entry
  readonly index: number
  readonly size: number
  /** The key that signed the checkpoint. */
  readonly key: string
}

const hashOf = (text: string): Buffer => {
  const hash = fromBase64(text)
  if (hash?.length !== HASH_BYTES) throw new BadBundle('the proof has an invalid hash')
  return hash
}

const openSigned = (checkpoint: string, key: string) => {
  try {
    return openCheckpoint(checkpoint, parseVerifier(key))
  } catch (error) {
    if (error instanceof BadNote) throw new BadBundle(`the checkpoint is invalid: ${error.message}`)
    if (error instanceof BadKey) throw new BadBundle(`the key is invalid: ${error.message}`)
    throw error
  }
}

/**
 * Checks a bundle with a key that is known from elsewhere, otherwise with the key in the bundle.
 * @throws BadBundle
 */
export const checkBundle = (bundle: Bundle, knownKey?: string): ProvenFacts => {
  const { entry, index, size, proof, checkpoint } = bundle
  const key = knownKey ?? bundle.key
  const signed = openSigned(checkpoint, key)
  if (signed.size !== size)
    throw new BadBundle(`the checkpoint has size ${signed.size}, but the proof has size ${size}`)
  const root = rootByInclusion(leafHash(entry), { index, size }, proof.map(hashOf))
  if (!root?.equals(signed.root)) throw new BadBundle('the event does not lead to the root of the checkpoint')
  const event = parseEntry(entry)
  if (!event) throw new BadBundle('the entry is not an event')
  return { origin: signed.origin, event, index, size, key }
}

/** Who caused an event, in which request, and when, as far as its metadata can be read. */
const circumstances = (event: Entry): { at: string; by: string; request: string } => {
  try {
    return recorded(event)
  } catch {
    return { at: 'unknown', by: 'unknown', request: 'unknown' }
  }
}

const recorded = (event: Entry) => {
  const { at, actor, requestId = 'unknown' } = metadataOf(event)
  const by = actor
    ? `user ${actor.userId}${actor.sessionId ? `, session ${actor.sessionId}` : ''}`
    : 'the service itself'
  return { at: new Date(at).toISOString(), by, request: requestId }
}

/** The facts that a bundle proves, as text. @param isKnownKey whether the key was given by the caller, and did not come from the bundle */
export const describeProven = ({ origin, event, index, size, key }: ProvenFacts, isKnownKey: boolean): string => {
  const { at, by, request } = circumstances(event)
  return `This event is in the log ${origin}, as leaf ${index} of ${size}:
  type     ${event.type}
  id       ${event.id}
  stream   ${event.stream}
  at       ${at}
  by       ${by}
  request  ${request}
  data     ${event.data.length} characters, in the bundle
The checkpoint was signed with the key
  ${key}
${
  isKnownKey
    ? 'which is the one that you gave.'
    : 'which came with the bundle. Only you can know whether it is the key of the log: give the key that you know with --key.'
}`
}
