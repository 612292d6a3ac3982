import type { EvidenceEvent } from '../../../contract/evidence.ts'
import { type Entry, PARTS } from '../entry.ts'
import { fromBase64 } from '../note.ts'
import { HASH_BYTES, type TreeHead, leafHash, rootByInclusion } from '../tree.ts'
import { BadEvidence, type Step } from './bad-evidence.ts'
import { parseStrictly } from './strict-json.ts'

/** What is known of an event whose text is in the file. */
export type ShownEvent = {
  readonly index: number
  readonly id: string
  readonly stream: string
  readonly type: string
  /** Milliseconds since 1970, by the clock of the service. */
  readonly at: number
  /** The id of the user who caused it; undefined if the service did. */
  readonly by: string | undefined
  /** The `externalId` of the trace or the message that the event is about. */
  readonly externalId: string | undefined
  /** The namespace from which the trace was moved by this event. */
  readonly movedFrom: string | undefined
}

/** Of a withheld event only its place in the log is known. */
export type CheckedEvent = ShownEvent | { readonly index: number; readonly isWithheld: true }

export const isShown = (event: CheckedEvent): event is ShownEvent => !('isWithheld' in event)

/** The hashes of a proof. @throws BadEvidence */
export const hashesIn = (proof: readonly string[], step: Step, place: string): Buffer[] =>
  proof.map((text) => hashIn(text, step, place))

const hashIn = (text: string, step: Step, place: string): Buffer => {
  const hash = fromBase64(text)
  if (hash?.length !== HASH_BYTES) throw new BadEvidence(step, place, 'a hash is not 32 bytes in base64')
  return hash
}

/** Step 2: the event is a leaf of the tree. @throws BadEvidence */
const checkInclusion = ({ index, proof, entry, leaf }: EvidenceEvent, head: TreeHead, place: string): void => {
  const hash = entry === undefined ? hashIn(leaf!, 2, place) : leafHash(entry)
  const root = rootByInclusion(hash, { index, size: head.size }, hashesIn(proof, 2, place))
  if (!root?.equals(head.root)) throw new BadEvidence(2, place, 'it does not lead to the root of the checkpoint')
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const textIn = (value: unknown, name: string): string | undefined => {
  const found = memberOf(value, name)
  return typeof found === 'string' ? found : undefined
}

const valueOf = (json: string, place: string, what: string): unknown => {
  try {
    return parseStrictly(json)
  } catch (error) {
    throw new BadEvidence(3, place, `its ${what} is not JSON: ${(error as Error).message}`)
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const partsOf = (text: string, place: string): Entry => {
  const parts = valueOf(text, place, 'entry')
  if (!Array.isArray(parts) || parts.length !== PARTS || !parts.every(isText))
    throw new BadEvidence(3, place, 'the entry is not a JSON array of five strings')
  const [id, stream, type, metadata, data] = parts as [string, string, string, string, string]
  return { id, stream, type, metadata, data }
}

/** Step 3, without the order of times. @throws BadEvidence */
const readEntry = (text: string, index: number, place: string): { event: ShownEvent; data: unknown } => {
  const entry = partsOf(text, place)
  const { id, stream, type } = entry
  const metadata = valueOf(entry.metadata, place, 'metadata') as { at?: unknown; actor?: unknown } | null
  const data = valueOf(entry.data, place, 'data')
  const at = metadata?.at
  if (!Number.isSafeInteger(at)) throw new BadEvidence(3, place, 'its metadata has no time')
  const by = textIn(metadata?.actor, 'userId')
  const movedFrom = textIn(memberOf(data, 'movedFrom'), 'slug')
  const externalId = textIn(data, 'externalId')
  return { event: { index, id, stream, type, at: at as number, by, externalId, movedFrom }, data }
}

/** An event that has passed the steps 2 and 3, with the value of its data if it is shown. */
export type PassedEvent = { readonly event: CheckedEvent; readonly data: unknown }

/**
 * Checks the events of a file one after the other, in their order, against the tree of its checkpoint (steps 2 and 3). What it remembers are the times of streams.
 * `place` of an event counts from 0. @throws BadEvidence
 */
export const newEventCheck = (head: TreeHead): ((event: EvidenceEvent) => PassedEvent) => {
  const latest = new Map<string, number>()
  let [count, before] = [0, -1]
  return (event) => {
    const place = `event ${count++}`
    if (event.index <= before) throw new BadEvidence('format', place, 'the events do not ascend by index')
    before = event.index
    checkInclusion(event, head, place)
    if (event.entry === undefined) return { event: { index: event.index, isWithheld: true }, data: undefined }
    const read = readEntry(event.entry, event.index, place)
    const { stream, at } = read.event
    if (at < (latest.get(stream) ?? 0))
      throw new BadEvidence(3, place, 'it is earlier than the event before it in its stream')
    latest.set(stream, at)
    return read
  }
}
