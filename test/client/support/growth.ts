import { writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Agent, SessionMessage } from '../../../src/client/agents/agent.ts'
import { readSession } from './read-session.ts'

const MOST_CUTS = 12

const read = async (agent: Agent, path: string, content: string) => {
  writeFileSync(path, content)
  return readSession(path, agent)
}

const textOf = (messages: readonly SessionMessage[]) => messages.map((message) => JSON.stringify(message))
const withoutUsage = (messages: readonly SessionMessage[]) => messages.map(({ usage: _, ...message }) => message)

/**
 * Writes `content` to `path` little by little, as an agent does, and asserts that each reading gives a part of what the whole
 * file gives: the same messages with the same ids and orders, of which only the usage may come later; and that a line which is being written changes nothing and is
 * not reported.
 */
export const assertGrowth = async (agent: Agent, path: string, content: string): Promise<void> => {
  const lines = content.replace(/\n$/, '').split('\n')
  const whole = await read(agent, path, content)
  const all = new Set(textOf(whole.messages))
  const known = new Set(textOf(withoutUsage(whole.messages)))
  assert.equal(textOf((await readSession(path, agent)).messages), [...all], 'a second reading gives the same')
  const step = Math.ceil(lines.length / MOST_CUTS)
  for (let length = 0; length < lines.length; length += step) {
    const head = lines.slice(0, length).map((line) => `${line}\n`)
    const { messages } = await read(agent, path, head.join(''))
    for (const message of textOf(messages.filter(({ usage }) => usage)))
      assert.ok(all.has(message), `after ${length} lines there is ${message}`)
    for (const message of textOf(withoutUsage(messages)))
      assert.ok(known.has(message), `after ${length} lines there is ${message}`)
    const next = lines[length]!
    const unfinished = await read(agent, path, `${head.join('')}${next.slice(0, next.length >> 1)}`)
    assert.equal(textOf(unfinished.messages), textOf(messages))
    assert.ok(unfinished.malformed.every((line) => line <= length))
  }
}
