import { createHash } from 'node:crypto'

/** RFC 6962, section 2.1, written down as it stands there: slow, and nothing of ours. */

const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const naiveLeaf = (entry: string): Buffer => sha256(Buffer.of(0), Buffer.from(entry, 'utf8'))

const split = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** MTH(D) over leaf hashes. */
export const naiveRoot = (leaves: readonly Buffer[]): Buffer => {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return leaves[0]!
  const k = split(leaves.length)
  return sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)))
}

/** PATH(m, D). */
export const naivePath = (m: number, leaves: readonly Buffer[]): Buffer[] => {
  if (leaves.length <= 1) return []
  const k = split(leaves.length)
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))]
}

const subproof = (m: number, leaves: readonly Buffer[], isWhole: boolean): Buffer[] => {
  const n = leaves.length
  if (m === n) return isWhole ? [] : [naiveRoot(leaves)]
  const k = split(n)
  return m <= k
    ? [...subproof(m, leaves.slice(0, k), isWhole), naiveRoot(leaves.slice(k))]
    : [...subproof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))]
}

/** PROOF(m, D), for 0 < m. */
export const naiveProof = (m: number, leaves: readonly Buffer[]): Buffer[] => subproof(m, leaves, true)
