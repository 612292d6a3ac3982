import { textBytes } from '../engine/bounded-cache.ts'
import type { KnownMessage } from './decide.ts'

const MESSAGE_BYTES = 320
const TOOL_BYTES = 32

const weigh = (externalId: string, { tools }: KnownMessage) =>
  MESSAGE_BYTES + textBytes([externalId]) + tools.length * TOOL_BYTES + textBytes(tools)

/**
 * What is known of a trace's messages, by externalId, and about how many bytes that takes: it is asked for after each
 * write, and to look at thousands of messages takes longer than to write one. The one that was set last is the newest.
 */
export class KnownMessages extends Map<string, KnownMessage> {
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  override set(externalId: string, message: KnownMessage): this {
    this.delete(externalId)
    this.#bytes += weigh(externalId, message)
    return super.set(externalId, message)
  }

  override delete(externalId: string): boolean {
    const message = this.get(externalId)
    if (message) this.#bytes -= weigh(externalId, message)
    return super.delete(externalId)
  }

  override clear(): void {
    this.#bytes = 0
    super.clear()
  }
}
