import { isDeepStrictEqual } from 'node:util'
import type { Came } from './asking.ts'
import { type SeenMessage, contentOf, countsOf, versionOf } from './contents.ts'
import type { Moments } from './moments.ts'
import { type Possible, newPossible } from './possible.ts'

export type SeenTrace = Record<string, unknown> & {
  messageCount?: number
  visibility: string
  messageTypeCounts?: Record<string, number>
  toolTypeCounts?: Record<string, number>
}

export type Upsert = { readonly name: string; readonly version: number }

export const bodyOf = ({ name, version }: Upsert) => ({ externalId: name, ...contentOf(name, version) })

const ABSENT = -1

const withoutZeros = (counts: Record<string, number> = {}) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))

const assertEqual = (seen: unknown, wanted: unknown, what: string) => {
  if (!isDeepStrictEqual(seen, wanted))
    throw new Error(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`)
}

/**
 * A trace that several clients write to, each to messages and fields of its own, and what it must contain according to the answers.
 * Messages are named `<writer>-<number>`, in the order in which their writer first sent them.
 */
export const newSharedTrace = (externalId: string, moments: Moments) => {
  const messages = new Map<string, Possible<number>>()
  const fields = new Map<string, Possible<string | undefined>>()
  let batches: readonly (readonly string[])[] = []
  let lastOrder: readonly string[] = []
  let kept = { lastOrder, batches }
  /** Messages that were lost, and may be created again by a newer version that is still being written. */
  const revived = new Set<string>()
  moments.join({
    keep: () => {
      kept = { lastOrder, batches }
    },
    fallBack: () => {
      lastOrder = kept.lastOrder
      batches = kept.batches
      for (const name of messages.keys()) revived.add(name)
    },
  })

  const messageOf = (name: string) => {
    if (!messages.has(name)) messages.set(name, newPossible(ABSENT, `message ${name} of ${externalId}`, moments))
    return messages.get(name)!
  }
  const fieldOf = (name: string) => {
    if (!fields.has(name))
      fields.set(name, newPossible<string | undefined>(undefined, `${name} of ${externalId}`, moments))
    return fields.get(name)!
  }

  /** Notes that a batch is sent: it must be stored as a whole or not at all. */
  const sending = (upserts: readonly Upsert[]) => {
    const fresh = upserts.map(({ name }) => name).filter((name) => !messages.has(name))
    batches = [...batches, fresh]
    for (const name of fresh) messageOf(name)
  }

  const came = (upserts: readonly Upsert[], how: Came) => {
    for (const { name, version } of upserts) messageOf(name).came(how, () => version)
  }

  const checkOrder = (names: readonly string[]) => {
    assertEqual(names.slice(0, lastOrder.length), lastOrder, `the order of ${externalId} has changed`)
    lastOrder = names
    const newest = new Map<string, number>()
    if (new Set(names).size < names.length) throw new Error(`a message is twice in ${externalId}: ${names.join(' ')}`)
    for (const name of names.filter((name) => !revived.has(name))) {
      const [writer = '', number] = name.split('-')
      if (Number(number) <= (newest.get(writer) ?? -1)) throw new Error(`${name} came late in ${externalId}`)
      newest.set(writer, Number(number))
    }
  }

  /** Checks what is read while nobody writes. @throws Error that names messages that are lost, repeated or wrong */
  const check = (trace: SeenTrace, seen: readonly SeenMessage[]) => {
    const versions = new Map(seen.map((message) => [message.externalId, versionOf(message)]))
    checkOrder(seen.map((message) => message.externalId))
    for (const [name, version] of versions) if (!messages.has(name)) throw new Error(`nobody sent ${name} (${version})`)
    for (const [name, possible] of messages) {
      const version = versions.get(name) ?? ABSENT
      possible.seen((one) => one === version, `at version ${version}`)
    }
    // A message of a batch that was lost may come back alone, with a newer version of it.
    for (const names of batches.filter((names) => !names.some((name) => revived.has(name)))) {
      const there = names.filter((name) => versions.has(name))
      if (there.length > 0) assertEqual(there, names, `half a batch of ${externalId}`)
    }
    for (const [name, possible] of fields) possible.seen((one) => one === trace[name], String(trace[name]))
    const { types, tools } = countsOf(seen)
    assertEqual(trace.messageCount, seen.length, `messageCount of ${externalId}`)
    assertEqual(withoutZeros(trace.messageTypeCounts), types, `messageTypeCounts of ${externalId}`)
    assertEqual(withoutZeros(trace.toolTypeCounts), tools, `toolTypeCounts of ${externalId}`)
  }

  /** Checks what is read right after an answer, while others write: it must have the reader's own writes. */
  const checkOwn = (writer: string, seen: readonly SeenMessage[]) => {
    const versions = new Map(seen.map((message) => [message.externalId, versionOf(message)]))
    for (const [name, possible] of messages) {
      if (!name.startsWith(`${writer}-`)) continue
      const version = versions.get(name) ?? ABSENT
      possible.seen((one) => one === version, `at version ${version} for its writer`)
    }
  }

  return { externalId, sending, came, fieldOf, check, checkOwn, size: () => messages.size }
}

export type SharedTrace = ReturnType<typeof newSharedTrace>
