import type { Taken } from './snapshot.ts'

/**
 * The messages of a session of which a copy was made: they are read of that copy once, and after that of new ones, each of which
 * is closed when it has been read. A copy that is never read is closed as garbage.
 */
export const copiedMessages = <T, Message>(
  first: Taken<T>,
  copy: () => Promise<Taken<T>>,
  read: (taken: Taken<T>) => Iterable<Message> | AsyncIterable<Message>,
): (() => AsyncGenerator<Message, void>) => {
  let unread: Taken<T> | undefined = first
  return async function* () {
    const taken = unread ?? (await copy())
    unread = undefined
    try {
      yield* read(taken)
    } finally {
      taken.database.close()
    }
  }
}
