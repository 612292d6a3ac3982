/** What is on its way to all clients of a node, in characters: those beyond a limit wait, so that memory stays bounded. */
export type Flow = {
  /** Takes room for a frame; false where there is none now: then `resume` is called once there may be. */
  take(length: number, resume: () => void): boolean
  giveBack(length: number): void
  /** Nothing is waited for any more. */
  leave(resume: () => void): void
  /** Whether frames wait for others. */
  isCrowded(): boolean
}

const LIMIT = 128 * 1024 * 1024

/** Frames up to this length wait for nobody: so many connections as there may be cannot make them too much. */
const SMALL = 64 * 1024

/** Frames wait in the order in which they came. One that is larger than the limit goes alone. */
export const newFlow = (limit = LIMIT): Flow => {
  let taken = 0
  const waiting: (() => void)[] = []
  let resuming: (() => void) | undefined

  const hasRoom = (length: number) => taken === 0 || taken + length <= limit
  const isNext = (resume: () => void) =>
    resuming === resume || (resuming === undefined && (waiting.length === 0 || waiting[0] === resume))

  const leave: Flow['leave'] = (resume) => {
    const at = waiting.indexOf(resume)
    if (at >= 0) waiting.splice(at, 1)
  }

  const wait = (resume: () => void) => {
    if (resuming === resume) waiting.unshift(resume)
    else if (!waiting.includes(resume)) waiting.push(resume)
  }

  const take: Flow['take'] = (length, resume) => {
    if (length > SMALL) {
      if (!isNext(resume) || !hasRoom(length)) {
        wait(resume)
        return false
      }
      leave(resume)
    }
    taken += length
    return true
  }

  /** Lets those go on who have waited longest, until one of them has to wait on. */
  const resumeAll = () => {
    for (let left = waiting.length; left > 0 && waiting.length > 0 && resuming === undefined; left--) {
      const next = waiting.shift()!
      resuming = next
      next()
      resuming = undefined
      if (waiting[0] === next) return
    }
  }

  const giveBack = (length: number) => {
    taken -= length
    resumeAll()
  }

  return { take, giveBack, leave, isCrowded: () => waiting.length > 0 }
}
