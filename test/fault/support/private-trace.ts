import { type SeenMessage, versionOf } from './contents.ts'
import type { Moments } from './moments.ts'
import { newPossible } from './possible.ts'
import type { Upsert } from './shared-trace.ts'

type State = { readonly visibility: string; readonly messages: readonly Upsert[] } | null

const upserted = (messages: readonly Upsert[], upsert: Upsert): Upsert[] => {
  const at = messages.findIndex(({ name }) => name === upsert.name)
  return at < 0 ? [...messages, upsert] : messages.with(at, upsert)
}

/** A trace that only one client writes: it creates, publishes, hides, fills and deletes it. */
export const newPrivateTrace = (externalId: string, moments: Moments) => {
  const possible = newPossible<State>(null, `trace ${externalId}`, moments)
  const put = (visibility: string) => (state: State) => ({ visibility, messages: state?.messages ?? [] })
  const message = (upsert: Upsert) => (state: State) =>
    state && { ...state, messages: upserted(state.messages, upsert) }
  const remove = () => null
  const gone = () => possible.seen((state) => state === null, 'not there')
  const there = () => possible.seen((state) => state !== null, 'there')

  const check = (visibility: string, seen: readonly SeenMessage[]) => {
    const messages = seen.map((one) => ({ name: one.externalId, version: versionOf(one) }))
    const text = JSON.stringify({ visibility, messages })
    possible.seen((state) => JSON.stringify(state) === text, text)
  }
  return { externalId, possible, put, message, remove, gone, there, check }
}

export type PrivateTrace = ReturnType<typeof newPrivateTrace>
