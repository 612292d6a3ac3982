/** What is on its way to all clients of a node, in characters: those beyond a limit wait, so that memory stays bounded. */
export type Flow = {
  /** Takes room for a frame; false where there is none now: then `resume` is called once there may be. */
  take(length: number, resume: () => void): boolean
  giveBack(length: number): void
  /** Whether frames wait for others. */
  isCrowded(): boolean
}

const LIMIT = 128 * 1024 * 1024

/** Frames up to this length wait for nobody: so many connections as there may be cannot make them too much. */
const SMALL = 64 * 1024

/** Frames wait in the order in which they came. One that is larger than the limit goes alone. */
export const newFlow = (limit = LIMIT): Flow => {
  let taken = 0
  let waiting = new Set<() => void>()

  const hasRoom = (length: number) => length <= SMALL || taken === 0 || taken + length <= limit

  const take: Flow['take'] = (length, resume) => {
    if (!hasRoom(length)) {
      waiting.add(resume)
      return false
    }
    taken += length
    return true
  }

  const giveBack = (length: number) => {
    taken -= length
    const resumed = waiting
    waiting = new Set()
    for (const resume of resumed) resume()
  }

  return { take, giveBack, isCrowded: () => waiting.size > 0 }
}
