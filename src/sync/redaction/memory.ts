import { randomUUID } from 'node:crypto'

/** What a later reading of added lines has to know of everything before them. It contains secrets. */
export type KnownSecrets = {
  /** The rule that found each secret, in the order in which they were found. */
  readonly rules: ReadonlyMap<string, string>
  /** The ids of calls that read or write an environment file. */
  readonly envCalls: ReadonlySet<string>
}

/**
 * The secrets of the sessions that this process has read, so that of a session that grows only the added lines have to be searched.
 * They are kept in memory only. On disk is no more than a random id, which means nothing to other processes.
 */
export type SecretMemory = {
  /** Returns the id for `recall`. */
  readonly remember: (source: string, known: KnownSecrets) => string
  /** Undefined if the source was remembered with another id since, or was forgotten. */
  readonly recall: (source: string, id: string) => KnownSecrets | undefined
}

/** How many sessions are remembered, those that were read last. */
const SESSIONS = 200
/** A session with more secrets is read as a whole each time. */
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
