import type { WebSocket } from 'ws'
import { type Progress, newProgress, taken } from '../http/reading-pace.ts'
import type { Flow } from './flow.ts'

/** Sends frames to one client, one at a time. */
export type FrameSender = {
  /**
   * Sends a frame, unless the flow has no room for it: then the answer is false, and `resume` is called later. Not to be
   * called while a frame is being sent.
   */
  send(frame: Buffer, hooks?: SendHooks): boolean
  isSending(): boolean
  /** Undefined while nothing is being sent. */
  progress(): Progress | undefined
  /** The connection is closed: nothing is waited for any more. */
  end(): void
}

export type SendHooks = {
  /** Asked before each fragment but the first; where it is false, the connection is cut off. */
  readonly mayGoOn?: () => boolean
  /** Called once the system has all of it. */
  readonly onSent?: () => void
}

/** A longer frame goes as fragments of this length: each that the system takes shows that the client goes on reading. */
const FRAGMENT_BYTES = 64 * 1024

/** `resume` is called when there may be room for a frame that had to wait, and after each frame. */
export const newFrameSender = (socket: WebSocket, flow: Flow, resume: () => void): FrameSender => {
  let sending: { readonly frame: Buffer; readonly progress: Progress } | undefined

  const finish = () => {
    if (sending === undefined) return
    const { frame } = sending
    sending = undefined
    flow.giveBack(frame)
  }

  const sendFrom = (start: number, frame: Buffer, hooks: SendHooks) => {
    const end = start + FRAGMENT_BYTES
    const fin = end >= frame.length
    socket.send(frame.subarray(start, end), { binary: false, fin }, (error) => {
      if (sending === undefined) return
      if (error) return finish()
      if (fin) {
        finish()
        hooks.onSent?.()
        return resume()
      }
      if (hooks.mayGoOn?.() === false) return socket.terminate()
      sending = { frame, progress: taken(sending.progress, end) }
      sendFrom(end, frame, hooks)
    })
  }

  const send: FrameSender['send'] = (frame, hooks = {}) => {
    if (!flow.take(frame, resume)) return false
    sending = { frame, progress: newProgress() }
    sendFrom(0, frame, hooks)
    return true
  }

  const end = () => {
    flow.leave(resume)
    finish()
  }

  return { send, isSending: () => sending !== undefined, progress: () => sending?.progress, end }
}
