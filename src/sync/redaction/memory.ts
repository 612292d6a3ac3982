import { randomUUID } from 'node:crypto'
import type { KnownSecrets } from './session.ts'

/**
 * The secrets of the sessions that this process has read, in memory only: so of one that grows only what was added has to be read and
 * looked through. What is on disk of it is a random id, which no other process knows.
 */
export type SecretMemory = {
  /** Gives the id by which it is asked for again. */
  readonly remember: (source: string, known: KnownSecrets) => string
  /** Undefined where the source was remembered under another id since, or was forgotten. */
  readonly recall: (source: string, id: string) => KnownSecrets | undefined
}

/** Of so many sessions, the ones that were read last. */
const SESSIONS = 200
/** One that has more is read whole each time. */
const MOST_SECRETS = 20_000

export const newSecretMemory = (): SecretMemory => {
  const remembered = new Map<string, { readonly id: string; readonly known: KnownSecrets }>()
  return {
    remember: (source, known) => {
      const id = randomUUID()
      remembered.delete(source)
      if (known.rules.size + known.envCalls.size <= MOST_SECRETS) remembered.set(source, { id, known })
      if (remembered.size > SESSIONS) remembered.delete(remembered.keys().next().value!)
      return id
    },
    recall: (source, id) => {
      const found = remembered.get(source)
      return found?.id === id ? found.known : undefined
    },
  }
}
