import { Worker } from 'node:worker_threads'
import { moduleUrl } from '../../base/threads.ts'
import { HASH_BYTES } from './tree.ts'

/** The joined texts of some events, as UTF-8, and where each text ends. */
export type HashJob = { readonly bytes: ArrayBuffer; readonly ends: Int32Array<ArrayBuffer> }

/** The hashes, and the job's bytes, which are used again. */
export type HashAnswer = { readonly hashes: ArrayBuffer; readonly bytes: ArrayBuffer }

/** An object whose hash is filled in later. */
type Slot = { hash: Buffer }

/** Part of a buffer, from `from` to before `to`. */
export type Slice = { readonly bytes: Buffer; readonly from: number; readonly to: number }

export const sliceOf = (text: string): Slice => {
  const bytes = Buffer.from(text)
  return { bytes, from: 0, to: bytes.length }
}

/** The size of the buffer of a job, which is sent when three quarters of it are used. */
const JOB_BYTES = 2 * 1024 * 1024

/** Hashes events on a thread, while the caller continues to read. */
export type Hashing = {
  /** Copies the texts of an event. Its hash is filled in when the job with it is done. */
  add(parts: readonly (Slice | string)[], slot: Slot): void
  /** Whether there is enough for a job. */
  isFull(): boolean
  /** Sends the added texts to the thread. Resolves when all hashes so far are filled in. */
  send(): Promise<void>
  close(): Promise<void>
}

export const openHashing = (): Hashing => {
  const worker = new Worker(moduleUrl('./hash-entries', import.meta.url))
  worker.unref()
  const waiting: { readonly slots: readonly Slot[]; readonly done: PromiseWithResolvers<void> }[] = []
  const free: Buffer<ArrayBuffer>[] = []
  let texts: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(JOB_BYTES)
  let ends: number[] = []
  let slots: Slot[] = []
  let length = 0

  worker.on('message', ({ hashes, bytes }: HashAnswer) => {
    const { slots, done } = waiting.shift()!
    if (bytes.byteLength === JOB_BYTES) free.push(Buffer.from(bytes))
    else bytes.transfer(0) // at once: it had an event of megabytes
    const all = Buffer.from(hashes)
    for (const [i, slot] of slots.entries()) slot.hash = all.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)
    done.resolve()
  })
  worker.on('error', (error) => {
    for (const { done } of waiting.splice(0)) done.reject(error)
  })

  const makeRoom = (bytes: number) => {
    if (length + bytes <= texts.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(texts.length * 2, length + bytes))
    texts.copy(larger, 0, 0, length)
    texts = larger
  }

  const copy = (part: Slice | string): number => {
    if (typeof part === 'string') {
      if (length + 3 * part.length > texts.length) makeRoom(Buffer.byteLength(part))
      return texts.write(part, length)
    }
    makeRoom(part.to - part.from)
    return part.bytes.copy(texts, length, part.from, part.to)
  }

  const add = (parts: readonly (Slice | string)[], slot: Slot) => {
    for (const part of parts) {
      length += copy(part)
      ends.push(length)
    }
    slots.push(slot)
  }

  const send = (): Promise<void> => {
    if (slots.length === 0) return waiting.at(-1)?.done.promise ?? Promise.resolve()
    const done = Promise.withResolvers<void>()
    done.promise.catch(() => {}) // it is awaited later
    waiting.push({ slots, done })
    const job: HashJob = { bytes: texts.buffer as ArrayBuffer, ends: Int32Array.from(ends) }
    worker.postMessage(job, [job.bytes, job.ends.buffer])
    texts = free.pop() ?? Buffer.allocUnsafeSlow(JOB_BYTES)
    ends = []
    slots = []
    length = 0
    return done.promise
  }

  return {
    add,
    isFull: () => length >= JOB_BYTES * 0.75,
    send,
    close: async () => void (await worker.terminate()),
  }
}
