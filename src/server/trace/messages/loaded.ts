import { textBytes } from '../../../eventstore/engine/sized-cache.ts'
import type { MessageClass } from './message-class.ts'
import type { PartsHead, TextHead } from './heads.ts'
import type { MessageRole } from '../../../contract/message.ts'
import type { Usage } from '../../../contract/usage.ts'

/** What decisions know about a message: everything except its texts and parts. */
export type MessageHead = {
  readonly ordinal: number
  readonly role: MessageRole
  readonly model?: string | undefined
  readonly order?: number | undefined
  readonly timestamp?: number | undefined
  readonly usage?: Usage | undefined
  readonly text?: TextHead | undefined
  readonly parts: PartsHead
  readonly class: MessageClass
  readonly tools: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
}

/** The digests of the first parts of a message, or of all. */
export type PartDigests = readonly string[]

/** The parts that an upsert gives a message: their number, and the digest of all. */
export type PartsOfUpsert = Pick<PartsHead, 'count' | 'digest'>

/** The most heads and the most digests that stay in memory between commands. */
const MOST_KNOWN = 4_000
const MOST_DIGESTS = 512

/** About how many bytes of memory the parts of a state take. */
const MESSAGE_BYTES = 640
const TOOL_BYTES = 32
const DIGEST_BYTES = 64

const sizeOf = (externalId: string, { tools, model }: MessageHead) =>
  MESSAGE_BYTES + textBytes([externalId, model]) + tools.length * TOOL_BYTES + textBytes(tools)

/**
 * The messages of one trace in memory, by `externalId`: the heads of some, and the digests of the parts of fewer. It changes in
 * place, because a trace may have tens of thousands of messages: so an answer must not keep it. A draft holds only what is written to it,
 * and looks up all others in the messages that it was made of.
 */
export class LoadedMessages {
  /** The heads, in the order in which they were set. */
  readonly #heads = new Map<string, MessageHead>()
  /** The ids that were looked up and have no message. */
  readonly #missing = new Set<string>()
  readonly #digests = new Map<string, PartDigests>()
  /** The size of `#digests`: one for each entry, and one for each digest. */
  #digestCount = 0
  #total: number
  /** The bytes of `#heads`. To compute this and the size of `#digests` after each write would take longer than the write. */
  #bytes = 0
  /** The messages that this is a draft of. */
  readonly #below: LoadedMessages | undefined

  /** @param total the number of messages of the trace, loaded or not */
  constructor(total = 0, below?: LoadedMessages) {
    this.#total = total
    this.#below = below
  }

  /** The same messages, to be written to without a change of these. */
  draft(): LoadedMessages {
    return new LoadedMessages(this.#total, this)
  }

  /** Writes a draft to the messages that it was made of, and returns those. Of what is no draft, returns itself. */
  commit(): LoadedMessages {
    const below = this.#below
    if (!below) return this
    for (const [externalId, head] of this.#heads) below.write(externalId, head, this.#digests.get(externalId))
    return below
  }

  /**
   * The head of a message: `none` if the trace does not have it, `unknown` if it has to be looked up. If all messages of the trace
   * are loaded, any other is `none`.
   */
  find(externalId: string): MessageHead | 'none' | 'unknown' {
    const head = this.#heads.get(externalId)
    if (head) return head
    if (this.#below) return this.#below.find(externalId)
    return this.#heads.size === this.#total || this.#missing.has(externalId) ? 'none' : 'unknown'
  }

  digestsOf(externalId: string): PartDigests | undefined {
    return this.#digests.get(externalId) ?? this.#below?.digestsOf(externalId)
  }

  /** Whether digests have to be loaded: the message exists, its parts differ from the given ones, and not enough digests are here. */
  lacksDigests(externalId: string, { count, digest }: PartsOfUpsert): boolean {
    const parts = this.#heads.get(externalId)?.parts
    if (!parts || parts.digest === digest) return false
    return (this.#digests.get(externalId)?.length ?? 0) < Math.min(count, parts.count)
  }

  /** Sets the result of a look-up. */
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
    this.#forgetDigests(externalId)
    this.#digests.set(externalId, digests)
    this.#digestCount += 1 + digests.length
  }

  /** Sets a message after an event, with the digests of its parts if the event has changed them. */
  write(externalId: string, head: MessageHead, digests: PartDigests | undefined): void {
    this.set(externalId, head)
    this.#total = Math.max(this.#total, head.ordinal + 1)
    if (digests) this.setDigests(externalId, digests)
  }

  /** Adds messages of the same trace, loaded at the same revision. Keeps the digests that are here if they are more. */
  add(loaded: LoadedMessages): void {
    for (const [externalId, head] of loaded.#heads) this.set(externalId, head)
    for (const externalId of loaded.#missing) this.set(externalId, 'none')
    for (const [externalId, digests] of loaded.#digests) {
      const known = this.#digests.get(externalId)
      this.setDigests(externalId, known && known.length > digests.length ? known : digests)
    }
  }

  /** Keeps only what the next command is likely to need: the heads of the newest messages, and the digests of the last few parts. */
  trim(): void {
    if (this.#heads.size > MOST_KNOWN) this.#trimHeads(MOST_KNOWN / 2)
    this.#missing.clear()
    this.#trimDigests()
  }

  /** Removes a message from memory, because it is outdated. */
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

  #forgetDigests(externalId: string): void {
    const digests = this.#digests.get(externalId)
    if (!digests) return
    this.#digestCount -= 1 + digests.length
    this.#digests.delete(externalId)
  }

  #trimDigests(): void {
    for (const externalId of this.#digests.keys()) {
      if (this.#digestCount <= MOST_DIGESTS) return
      this.#forgetDigests(externalId)
    }
  }

  /** The approximate size in memory, in bytes. */
  get bytes(): number {
    return this.#bytes + this.#digestCount * DIGEST_BYTES
  }
}
