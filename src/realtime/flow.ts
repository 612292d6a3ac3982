/**
 * What is on its way to all clients of a node, in bytes: what is beyond a limit waits, so that memory stays bounded. A frame
 * that goes to many counts once, for it is in memory once.
 */
export type Flow = {
  /** Takes room for a frame; false where there is none now: then `resume` is called once there may be. */
  take(frame: Buffer, resume: () => void): boolean
  giveBack(frame: Buffer): void
  /** Nothing is waited for any more. */
  leave(resume: () => void): void
  /** Whether frames wait for others. */
  isCrowded(): boolean
}

const LIMIT = 128 * 1024 * 1024

/** Frames up to this length neither wait nor count: even those of all connections together take little memory. */
const SMALL = 64 * 1024

/** Frames wait in the order in which they came. One that is larger than the limit goes alone. */
export const newFlow = (limit = LIMIT): Flow => {
  /** To how many clients each frame is on its way. */
  const clients = new Map<Buffer, number>()
  let taken = 0
  const waiting: (() => void)[] = []
  let resuming: (() => void) | undefined

  const hasRoom = (frame: Buffer) => clients.has(frame) || taken === 0 || taken + frame.length <= limit
  const isNext = (resume: () => void) =>
    resuming === resume || (resuming === undefined && (waiting.length === 0 || waiting[0] === resume))

  const leave: Flow['leave'] = (resume) => {
    const index = waiting.indexOf(resume)
    if (index >= 0) waiting.splice(index, 1)
  }

  const wait = (resume: () => void) => {
    if (resuming === resume) waiting.unshift(resume)
    else if (!waiting.includes(resume)) waiting.push(resume)
  }

  const take: Flow['take'] = (frame, resume) => {
    if (frame.length <= SMALL) return true
    if (!isNext(resume) || !hasRoom(frame)) {
      wait(resume)
      return false
    }
    leave(resume)
    if (!clients.has(frame)) taken += frame.length
    clients.set(frame, (clients.get(frame) ?? 0) + 1)
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

  const giveBack: Flow['giveBack'] = (frame) => {
    const left = (clients.get(frame) ?? 0) - 1
    if (left > 0) return void clients.set(frame, left)
    if (clients.delete(frame)) taken -= frame.length
    resumeAll()
  }

  return { take, giveBack, leave, isCrowded: () => waiting.length > 0 }
}
