import { writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Agent, LiveReading, SessionMessage } from '../../../src/client/agents/agent.ts'

/** A session as it was read, with its messages by their ids. */
export type ReadOnce = {
  readonly externalId: string
  readonly trace: object
  readonly messages: ReadonlyMap<string, SessionMessage>
  readonly malformed: readonly number[]
  readonly isContinued: boolean
  /** What the next reading goes on with, once. */
  readonly live: LiveReading | undefined
}

/** Reads the only session of a file, and goes on from an earlier reading, if there is one. */
export const readFrom = async (agent: Agent, path: string, from?: LiveReading): Promise<ReadOnce> => {
  const [stored, ...more] = await Array.fromAsync(agent.sessions(path))
  assert.ok(stored && more.length === 0, `${path} holds one session`)
  const malformed: number[] = []
  const session = await stored.read({ onMalformed: (line) => malformed.push(line), goOn: { from } })
  const messages = new Map<string, SessionMessage>()
  for await (const message of session.messages()) messages.set(message.externalId, message)
  const { externalId, trace, isContinued = false } = session
  return { externalId, trace, messages, malformed, isContinued, live: session.live?.() }
}

/** All that is known of a session after a reading that may have gone on from an earlier one. */
export const together = (before: ReadOnce, after: ReadOnce): ReadOnce =>
  after.isContinued
    ? {
        ...after,
        messages: new Map([...before.messages, ...after.messages]),
        malformed: [...before.malformed, ...after.malformed],
      }
    : after

const shown = ({ externalId, trace, messages, malformed }: ReadOnce) => ({
  externalId,
  trace,
  malformed,
  messages: [...messages.values()].sort((a, b) => a.order - b.order).map((message) => JSON.stringify(message)),
})

/** Asserts of a reading in parts; the first bytes of the content are written as far as each of `cuts` in turn, then all of it. */
type AssertInParts = (...cuts: readonly number[]) => Promise<void>

/** How many of the readings that had an earlier one went on from it. */
export type Continued = { readings: number; continued: number }

/**
 * Reads `content` as a whole at `path`; what it gives asserts that readings in parts, each of which goes on from the one before,
 * give together what a reading of the whole gives, after each part, and counts them.
 */
export const inParts = async (
  agent: Agent,
  path: string,
  content: Buffer,
): Promise<{ readonly assertSame: AssertInParts; readonly count: Continued }> => {
  writeFileSync(path, content)
  const whole = shown(await readFrom(agent, path))
  const count = { readings: 0, continued: 0 }
  const assertSame: AssertInParts = async (...cuts) => {
    let known: ReadOnce | undefined
    for (const end of [...cuts, content.length]) {
      writeFileSync(path, content.subarray(0, end))
      const next = await readFrom(agent, path, known?.live)
      if (known) count.readings++
      if (next.isContinued) count.continued++
      if (next.isContinued) assert.is(next.externalId, known?.externalId, 'another session is not gone on with')
      known = known ? together(known, next) : next
      const expected = end === content.length ? whole : shown(next.isContinued ? await readFrom(agent, path) : next)
      assert.equal(shown(known), expected, `cut at ${cuts.join(', ')}, read to ${end}`)
    }
  }
  return { assertSame, count }
}

/**
 * The bytes of a text at which it may be cut differently: around the ends of lines, and in their middle, in characters of many bytes
 * too.
 */
export const cutsOf = (content: Buffer): readonly number[] => {
  const cuts = new Set<number>()
  let start = 0
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    for (const cut of [start, start + 1, (start + end) >> 1, end - 1, end]) cuts.add(Math.min(cut, end))
    start = end + 1
  }
  for (const [index, byte] of content.entries()) if (byte >= 0x80 && cuts.size < 1_000) cuts.add(index)
  return [...cuts, content.length].sort((a, b) => a - b)
}
