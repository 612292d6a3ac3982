import { z } from 'zod'
import { metadataOf } from '../log/metadata.ts'
import { openCheckpoint } from './checkpoint.ts'
import { type Entry, parseEntry } from './entry.ts'
import { BadKey, BadNote, fromBase64, parseVerifier } from './note.ts'
import { HASH_BYTES, leafHash, rootByInclusion } from './tree.ts'

/** A proof that an event is in a log, with the log's key: it can be checked without the service. */
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
export type Proven = {
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
export const checkBundle = (bundle: Bundle, knownKey?: string): Proven => {
  const { entry, index, size, proof, checkpoint } = bundle
  const key = knownKey ?? bundle.key
  const head = openSigned(checkpoint, key)
  if (head.size !== size) throw new BadBundle(`the checkpoint has size ${head.size}, but the proof has size ${size}`)
  const root = rootByInclusion(leafHash(entry), { index, size }, proof.map(hashOf))
  if (!root?.equals(head.root)) throw new BadBundle('the event does not lead to the root of the checkpoint')
  const event = parseEntry(entry)
  if (!event) throw new BadBundle('the entry is not an event')
  return { origin: head.origin, event, index, size, key }
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

/** The facts that a bundle proves, as text. `isKnownKey`: the key did not come from the bundle itself. */
export const describeProven = ({ origin, event, index, size, key }: Proven, isKnownKey: boolean): string => {
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
