import { Unavailable } from '../engine/rejected.ts'

/** A part of the room; what it holds may turn out smaller or larger than what was asked for. */
export type Share = { readonly size: () => number; resize(size: number): void; giveBack(): void }

/** Room in memory for what requests hold while they are worked on: bytes, or characters. */
export type Room = {
  /** Waits its turn until there is room. @throws Unavailable after 5 s */
  take(size: number): Promise<Share>
}

export type RoomOptions = {
  readonly size: number
  /** Called when somebody waits, and again from time to time: what is given back meanwhile shortens the wait. */
  readonly makeRoom: (missing: number) => void
  readonly patienceMs?: number
  /** What is said to who has waited in vain. */
  readonly full: string
}

type Waiter = { readonly size: number; readonly enter: (share: Share) => void }

const PATIENCE_MS = 5_000
const LOOK_AGAIN_MS = 200

export const newRoom = ({ size: total, makeRoom, patienceMs = PATIENCE_MS, full }: RoomOptions): Room => {
  let used = 0
  const waiters = new Set<Waiter>()

  const occupy = (asked: number): Share => {
    let size = asked
    let isHeld = true
    used += asked
    const resize = (next: number) => {
      if (!isHeld) return
      used += next - size
      size = next
      admit()
    }
    const giveBack = () => {
      resize(0)
      isHeld = false
    }
    return { size: () => size, resize, giveBack }
  }

  const admit = () => {
    for (const waiter of waiters) {
      if (used + waiter.size > total) return
      waiters.delete(waiter)
      waiter.enter(occupy(waiter.size))
    }
  }

  const askForRoom = () => {
    const [next] = waiters
    if (next) makeRoom(used + next.size - total)
  }

  const take = async (wanted: number) => {
    const size = Math.min(wanted, total)
    if (waiters.size === 0 && used + size <= total) return occupy(size)
    const { promise, resolve: enter, reject } = Promise.withResolvers<Share>()
    const waiter = { size, enter }
    waiters.add(waiter)
    const again = setInterval(askForRoom, LOOK_AGAIN_MS)
    const limit = setTimeout(() => {
      waiters.delete(waiter)
      reject(new Unavailable(full))
      admit()
    }, patienceMs)
    askForRoom()
    try {
      return await promise
    } finally {
      clearInterval(again)
      clearTimeout(limit)
    }
  }

  return { take }
}
