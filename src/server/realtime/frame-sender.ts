import type { WebSocket } from 'ws'
import { PIECE_LENGTH, slicesOf } from '../../base/pieces.ts'

/** Sends frames to one client, one at a time. */
type FrameSender = {
  /** Sends a frame of these bytes, joined. Must not be called while a frame is being sent. */
  send(parts: readonly Buffer[], hooks?: SendHooks): void
  isSending(): boolean
  /** How many bytes of all frames the system has accepted: this grows as long as the client reads. */
  taken(): number
  /** To be called when the connection is closed. */
  end(): void
}

type SendHooks = {
  /** Called before each fragment but the first. If it returns false, the connection is ended. */
  readonly mayGoOn?: () => boolean
  /** The next bytes are passed to the system. */
  readonly onGiven?: () => void
  /** The operating system has accepted this many more bytes. */
  readonly onTaken?: (bytes: number) => void
  /** Called once, when the frame has ended: `isWhole` says whether the system has accepted all of it. */
  readonly onEnd?: (isWhole: boolean) => void
}

/** A long frame is sent as fragments: each one that the system accepts shows that the client is reading. */
function* fragmentsOf(parts: readonly Buffer[]) {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= PIECE_LENGTH) {
    yield parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    return
  }
  for (const part of parts) yield* slicesOf(part)
}

type FrameSenderOptions = {
  /** Awaited before each fragment but the first, so that other clients have their turn of the event loop. */
  readonly turn: () => Promise<void> | undefined
  /** Called after each frame. */
  readonly resume: () => void
}

export const newFrameSender = (socket: WebSocket, { turn, resume }: FrameSenderOptions): FrameSender => {
  let sending: SendHooks | undefined
  let taken = 0

  const finish = (isWhole: boolean) => {
    const hooks = sending
    sending = undefined
    hooks?.onEnd?.(isWhole)
  }

  const sendNext = (fragment: Buffer, rest: Iterator<Buffer>) => {
    const next = rest.next()
    const fin = next.done === true
    sending?.onGiven?.()
    socket.send(fragment, { binary: false, fin }, (error) => void onTaken(fragment.length, next, rest, error))
  }

  const onTaken = async (bytes: number, next: IteratorResult<Buffer>, rest: Iterator<Buffer>, error?: Error) => {
    if (!sending) return
    if (error) return finish(false)
    taken += bytes
    sending.onTaken?.(bytes)
    if (next.done) {
      finish(true)
      return resume()
    }
    await turn()
    if (!sending) return
    if (sending.mayGoOn?.() === false) return socket.terminate()
    sendNext(next.value, rest)
  }

  return {
    send: (parts, hooks = {}) => {
      sending = hooks
      const fragments = fragmentsOf(parts)
      sendNext(fragments.next().value as Buffer, fragments)
    },
    isSending: () => sending !== undefined,
    taken: () => taken,
    end: () => finish(false),
  }
}
