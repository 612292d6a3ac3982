import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../../base/threads.ts'
import { PARTS, rawLeafHash } from './entry.ts'
import type { HashAnswer, HashJob } from './hashing.ts'
import { HASH_BYTES } from './tree.ts'

lowerThreadPriority()

/** A thread that hashes events. A job has their texts joined, with the places where each text ends. */
parentPort!.on('message', ({ bytes, ends }: HashJob) => {
  const texts = Buffer.from(bytes)
  const hashes = new Uint8Array((ends.length / PARTS) * HASH_BYTES)
  for (let i = 0; i < ends.length; i += PARTS) hashes.set(rawLeafHash(texts, ends, i), (i / PARTS) * HASH_BYTES)
  const answer: HashAnswer = { hashes: hashes.buffer, bytes }
  parentPort!.postMessage(answer, [answer.hashes, bytes])
})
