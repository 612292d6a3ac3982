import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../base/threads.ts'
import { HASH_BYTES } from './tree.ts'
import { type HashAnswer, type HashJob, PARTS } from './hashing.ts'
import { rawLeafHash } from './entry.ts'

lowerThreadPriority()

/** A thread that hashes events. A job has their texts joined, with the places where each text ends. */
parentPort!.on('message', ({ bytes, ends }: HashJob) => {
  const texts = Buffer.from(bytes).toString('latin1', 0, ends.at(-1))
  const hashes = new Uint8Array((ends.length / PARTS) * HASH_BYTES)
  let start = 0
  const next = (end: number): string => {
    const text = texts.slice(start, end)
    start = end
    return text
  }
  for (let i = 0; i < ends.length; i += PARTS) {
    const [id, stream, type] = [next(ends[i]!), next(ends[i + 1]!), next(ends[i + 2]!)]
    hashes.set(rawLeafHash(id, stream, type, next(ends[i + 3]!), next(ends[i + 4]!)), (i / PARTS) * HASH_BYTES)
  }
  const answer: HashAnswer = { hashes: hashes.buffer, bytes }
  parentPort!.postMessage(answer, [answer.hashes, bytes])
})
