import { createHash, type Hash } from 'node:crypto'
import type { RecordedEvent } from '../log.ts'
import { type Header, eventLine } from './format.ts'

/** The part of an export that a file has already. */
export type WrittenPart = { readonly hash: Hash; readonly events: number }

/** Writes text, and resolves when more can be written. */
export type WriteText = (text: string) => Promise<unknown>

const BLOCK = 64 * 1024

/** Writes the lines of an export, many at a time. */
export const newExportWriter = (write: WriteText, begun: WrittenPart = { hash: createHash('sha256'), events: 0 }) => {
  const { hash } = begun
  let events = begun.events
  let block = ''

  const flush = async () => {
    const text = block
    block = ''
    if (text !== '') await write(text)
  }

  const add = async (line: string) => {
    hash.update(line)
    block += line
    if (block.length >= BLOCK) await flush()
  }

  return {
    header: (header: Header) => add(`${JSON.stringify(header)}\n`),
    event: (event: RecordedEvent) => {
      events += 1
      return add(eventLine(event))
    },
    /** Ends the file. It has all events up to the position `through` of the log. */
    trailer: async (through: bigint) => {
      const sha256 = hash.digest('hex')
      block += `${JSON.stringify({ events, sha256, through: `${through}` })}\n`
      await flush()
      return { events, sha256 }
    },
    flush,
  }
}
