import { textBytes } from '../../engine/sized-cache.ts'
import type { MessageClass } from '../events.ts'
import type { PartsHead, TextHead } from './heads.ts'
import type { MessageRole } from '../../contract/message.ts'

/** What a decision knows of a message: everything but its texts. */
export type MessageHead = {
  readonly ordinal: number
  readonly role: MessageRole
  readonly model?: string | undefined
  readonly order?: number | undefined
  readonly timestamp?: number | undefined
  readonly text?: TextHead | undefined
  readonly parts: PartsHead
  readonly class: MessageClass
  readonly tools: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** The digests of a message's first parts, or of all. */
export type PartDigests = readonly string[]

/** The parts that a command gives a message: how many, and the digest of all. Without parts there are none to compare. */
export type GivenParts = Pick<PartsHead, 'count' | 'digest'>

const MOST_KNOWN = 4_000
const MOST_DIGESTS = 512

const MESSAGE_BYTES = 640
const TOOL_BYTES = 32
const DIGEST_BYTES = 64

const sizeOf = (externalId: string, { tools, model }: MessageHead) =>
  MESSAGE_BYTES + textBytes([externalId, model]) + tools.length * TOOL_BYTES + textBytes(tools)

/**
 * What is in memory of one trace's messages, by externalId: the heads of some of them, and the digests of the parts of fewer. It
 * changes in place, since a trace may have tens of thousands: it belongs to the state that holds it, and is no part of an
 * answer.
 */
export class LoadedMessages {
  /** The one that was set last is the newest. */
  readonly #heads = new Map<string, MessageHead>()
  /** externalIds that were looked up and have no message. */
  readonly #missing = new Set<string>()
  readonly #digests = new Map<string, PartDigests>()
  #total: number
  /** Of `#heads`, added up: to look at thousands of messages after each write takes longer than the write. */
  #bytes = 0

  /** @param total how many messages the trace has, loaded or not */
  constructor(total = 0) {
    this.#total = total
  }

  /**
   * The head of a message: `none` when the trace does not have it, `unknown` when that has to be looked up. Once as many are
   * known as the trace has, it has no others.
   */
  find(externalId: string): MessageHead | 'none' | 'unknown' {
    const head = this.#heads.get(externalId)
    if (head) return head
    return this.#heads.size === this.#total || this.#missing.has(externalId) ? 'none' : 'unknown'
  }

  digestsOf(externalId: string): PartDigests | undefined {
    return this.#digests.get(externalId)
  }

  /** Whether a message is there and has other parts, so that their digests are needed, and not all of these are loaded. */
  lacksDigests(externalId: string, { count, digest }: GivenParts): boolean {
    const parts = this.#heads.get(externalId)?.parts
    if (!parts || parts.digest === digest) return false
    return (this.#digests.get(externalId)?.length ?? 0) < Math.min(count, parts.count)
  }

  /** Takes what a look-up has found. */
  set(externalId: string, found: MessageHead | 'none'): void {
    if (found === 'none') {
      this.#missing.add(externalId)
      return
    }
    this.forget(externalId)
    this.#missing.delete(externalId)
    this.#bytes += sizeOf(externalId, found)
    this.#heads.set(externalId, found)
  }

  setDigests(externalId: string, digests: PartDigests): void {
    this.#digests.delete(externalId)
    this.#digests.set(externalId, digests)
  }

  /** Takes a message as an event has left it, with the digests of its parts where it has changed them. */
  write(externalId: string, head: MessageHead, digests: PartDigests | undefined): void {
    this.set(externalId, head)
    this.#total = Math.max(this.#total, head.ordinal + 1)
    if (digests) this.setDigests(externalId, digests)
  }

  /** Takes what was loaded of the same trace at the same revision. It may be less than what is here for another command. */
  add(loaded: LoadedMessages): void {
    for (const [externalId, head] of loaded.#heads) this.set(externalId, head)
    for (const externalId of loaded.#missing) this.set(externalId, 'none')
    for (const [externalId, digests] of loaded.#digests) {
      const known = this.#digests.get(externalId)
      this.setDigests(externalId, known && known.length > digests.length ? known : digests)
    }
  }

  /** Keeps what the next command is likely to need: the heads of the newest messages, and the digests of the last few parts. */
  trim(): void {
    if (this.#heads.size > MOST_KNOWN) this.#trimHeads(MOST_KNOWN / 2)
    this.#missing.clear()
    this.#trimDigests()
  }

  /** What is in memory of a message does not hold any more. */
  forget(externalId: string): void {
    const head = this.#heads.get(externalId)
    if (!head) return
    this.#bytes -= sizeOf(externalId, head)
    this.#heads.delete(externalId)
  }

  #trimHeads(most: number): void {
    for (const externalId of this.#heads.keys()) {
      if (this.#heads.size <= most) return
      this.forget(externalId)
    }
  }

  #countDigests(): number {
    let count = 0
    for (const digests of this.#digests.values()) count += 1 + digests.length
    return count
  }

  #trimDigests(): void {
    let count = this.#countDigests()
    for (const [externalId, digests] of this.#digests) {
      if (count <= MOST_DIGESTS) return
      this.#digests.delete(externalId)
      count -= 1 + digests.length
    }
  }

  /** About how many bytes all of it takes in memory. */
  get bytes(): number {
    return this.#bytes + this.#countDigests() * DIGEST_BYTES
  }
}
