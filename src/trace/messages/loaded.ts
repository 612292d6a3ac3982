import { textBytes } from '../../engine/weighted-cache.ts'
import type { MessageClass } from '../events.ts'
import type { MessageDocument } from './message.ts'

/** What a decision knows of a message without its document. */
export type KnownMessage = {
  readonly ordinal: number
  readonly digest: string
  readonly class: MessageClass
  readonly tools: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}

const MOST_KNOWN = 4_000
const MOST_DOCUMENTS = 8
const MOST_DOCUMENTS_LENGTH = 32 * 1024

const MESSAGE_BYTES = 320
const TOOL_BYTES = 32
const DOCUMENT_BYTES = 400
const PART_BYTES = 300

const weighKnown = (externalId: string, { tools }: KnownMessage) =>
  MESSAGE_BYTES + textBytes([externalId]) + tools.length * TOOL_BYTES + textBytes(tools)

const partsLength = ({ parts }: MessageDocument) => parts.reduce((sum, part) => sum + part.json.length, 0)

const lengthOf = (document: MessageDocument) =>
  partsLength(document) + (document.textContent?.length ?? 0) + (document.model?.length ?? 0)

const weighDocument = (externalId: string, document: MessageDocument) => {
  const { parts, textContent, model } = document
  const texts = textBytes([externalId, textContent, model])
  return DOCUMENT_BYTES + texts + parts.length * PART_BYTES + 2 * partsLength(document)
}

/**
 * What is in memory of one trace's messages, by externalId: what is known of some of them, and the documents of fewer. It
 * changes in place, since a trace may have tens of thousands: it belongs to the state that holds it, and is no part of an
 * answer.
 */
export class LoadedMessages {
  /** The one that was set last is the newest. */
  readonly #known = new Map<string, KnownMessage>()
  /** externalIds that were looked up and have no message. */
  readonly #missing = new Set<string>()
  readonly #documents = new Map<string, MessageDocument>()
  #total: number
  /** Of `#known`, added up: to look at thousands of messages after each write takes longer than the write. */
  #knownBytes = 0

  /** @param total how many messages the trace has, loaded or not */
  constructor(total = 0) {
    this.#total = total
  }

  /**
   * What is known of a message: `none` when the trace does not have it, `unknown` when that has to be looked up. Once as
   * many are known as the trace has, it has no others.
   */
  find(externalId: string): KnownMessage | 'none' | 'unknown' {
    const known = this.#known.get(externalId)
    if (known) return known
    return this.#known.size === this.#total || this.#missing.has(externalId) ? 'none' : 'unknown'
  }

  documentOf(externalId: string): MessageDocument | undefined {
    return this.#documents.get(externalId)
  }

  /** Whether a message is there and differs from this digest, so that its document is needed, and that is not loaded. */
  lacksDocument(externalId: string, digest: string): boolean {
    const known = this.#known.get(externalId)
    return known !== undefined && known.digest !== digest && !this.#documents.has(externalId)
  }

  /** Takes what a look-up has found. */
  set(externalId: string, found: KnownMessage | 'none'): void {
    if (found === 'none') {
      this.#missing.add(externalId)
      return
    }
    this.#forget(externalId)
    this.#missing.delete(externalId)
    this.#knownBytes += weighKnown(externalId, found)
    this.#known.set(externalId, found)
  }

  setDocument(externalId: string, document: MessageDocument): void {
    this.#documents.set(externalId, document)
  }

  /** Takes a message as an event has left it, and its document when that is known. */
  write(externalId: string, message: KnownMessage, document: MessageDocument | undefined): void {
    this.set(externalId, message)
    this.#total = Math.max(this.#total, message.ordinal + 1)
    this.#documents.delete(externalId)
    if (document) this.#documents.set(externalId, document)
  }

  /** Takes what was loaded of the same trace at the same revision. */
  add(loaded: LoadedMessages): void {
    for (const [externalId, message] of loaded.#known) this.set(externalId, message)
    for (const externalId of loaded.#missing) this.set(externalId, 'none')
    for (const [externalId, document] of loaded.#documents) this.setDocument(externalId, document)
  }

  /** Keeps what the next command is likely to need: what is known of the newest messages, and the last documents if short. */
  trim(): void {
    if (this.#known.size > MOST_KNOWN) this.#trimKnown(MOST_KNOWN / 2)
    this.#missing.clear()
    this.#trimDocuments()
  }

  #forget(externalId: string): void {
    const known = this.#known.get(externalId)
    if (!known) return
    this.#knownBytes -= weighKnown(externalId, known)
    this.#known.delete(externalId)
  }

  #trimKnown(most: number): void {
    for (const externalId of this.#known.keys()) {
      if (this.#known.size <= most) return
      this.#forget(externalId)
    }
  }

  #trimDocuments(): void {
    let length = 0
    for (const document of this.#documents.values()) length += lengthOf(document)
    for (const [externalId, document] of this.#documents) {
      if (this.#documents.size <= MOST_DOCUMENTS && length <= MOST_DOCUMENTS_LENGTH) return
      this.#documents.delete(externalId)
      length -= lengthOf(document)
    }
  }

  /** About how many bytes all of it takes in memory. */
  get bytes(): number {
    let bytes = this.#knownBytes
    for (const [externalId, document] of this.#documents) bytes += weighDocument(externalId, document)
    return bytes
  }
}
