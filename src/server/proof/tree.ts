import { hash } from 'node:crypto'

/** The Merkle tree of RFC 6962 over SHA-256. Sizes and indexes are whole numbers below 2^53; hashes have 32 bytes. */

export const HASH_BYTES = 32

/** How many hashes a full tile has. A hash of one level is the root of a full tile of the level below. */
export const TILE_WIDTH = 256

/** The hash is made as a text first, because Node takes twice as long to make it as a buffer. */
export const sha256 = (bytes: string | Uint8Array): Buffer => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1')

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Buffer = sha256('')

/** A buffer for entries that is used again and again. Its first byte is zero. */
const scratch = Buffer.alloc(256 * 1024)

/** SHA-256 of a zero byte and the entry, which are put together in `scratch`: the text `\0${entry}` would be copied twice more for each event. */
export const leafHash = (entry: string): Buffer => {
  if (3 * entry.length >= scratch.length) return sha256(`\0${entry}`)
  return sha256(scratch.subarray(0, 1 + scratch.write(entry, 1)))
}

const pair = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

/** SHA-256 of a one byte and both hashes. */
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => {
  pair.set(left, 1)
  pair.set(right, 1 + HASH_BYTES)
  return sha256(pair)
}

/** The largest power of two below `n`, which is at least 2: there the tree over n leaves divides into its two subtrees. */
const splitOf = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

/** The root of the tree over these hashes, of which there is at least one. */
export const rootOf = (hashes: readonly Buffer[]): Buffer => {
  let level = hashes
  while (level.length > 1) {
    const above: Buffer[] = []
    for (let i = 0; i < level.length; i += 2) {
      const right = level[i + 1]
      above.push(right ? nodeHash(level[i]!, right) : level[i]!)
    }
    level = above
  }
  return level[0]!
}

/** The leaves from `from` to before `to`, which are exactly those below one node of a tree. */
export type Span = { readonly from: number; readonly to: number }

/** The subtrees whose roots are the inclusion proof of a leaf, in the order of the proof. */
export const inclusionSpans = (index: number, size: number): Span[] => {
  const spans: Span[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    spans.push(index < middle ? { from: middle, to } : { from, to: middle })
    if (index < middle) to = middle
    else from = middle
  }
  return spans.reverse()
}

/** The subtrees whose roots are the consistency proof between two sizes. The proof is empty if the older size is 0, or both are equal. */
export const consistencySpans = (older: number, newer: number): Span[] => {
  const spans: Span[] = []
  if (older === 0) return spans
  let [from, to] = [0, newer]
  while (older < to) {
    const middle = from + splitOf(to - from)
    spans.push(older <= middle ? { from: middle, to } : { from, to: middle })
    if (older <= middle) to = middle
    else from = middle
  }
  // The verifier knows the root of the older tree, but not that of a part of it.
  if (from > 0) spans.push({ from, to })
  return spans.reverse()
}

/** Hashes of one level, from `from` to before `to`. Each is the root over 256^level leaves. */
export type HashRange = { readonly level: number; readonly from: number; readonly to: number }

/** The ranges of stored hashes that the root of a span is computed from, from left to right. */
export const rangesOf = ({ from, to }: Span): HashRange[] => {
  const ranges: HashRange[] = []
  for (let start = from; start < to;) {
    let width = 1
    while (width * 2 <= to - start) width *= 2
    let level = 0
    let unit = 1
    while (unit * TILE_WIDTH <= width) {
      unit *= TILE_WIDTH
      level += 1
    }
    ranges.push({ level, from: start / unit, to: (start + width) / unit })
    start += width
  }
  return ranges
}

/** The root of a span, from the hashes of its ranges. */
export const spanRoot = (hashesOfRanges: readonly (readonly Buffer[])[]): Buffer =>
  hashesOfRanges.map(rootOf).reduceRight((right, left) => nodeHash(left, right))

/** The hash of a complete subtree above the leaves, which never changes. */
export type Subtree = { readonly level: number; readonly index: number; readonly hash: Buffer }

/** A growing tree. Keeps at most 255 hashes of each level: those that no full tile covers yet. */
export type GrowingTree = {
  size(): number
  root(): Buffer
  /** Adds the hash of a leaf. Returns the subtrees that it completes, from the lowest level upwards. */
  add(leaf: Buffer): readonly Subtree[]
}

const NONE: readonly Subtree[] = []

/** `tail` are the last, incomplete tiles of a tree of that size, from level 0 upwards. */
export const newGrowingTree = (size = 0, tail: readonly (readonly Buffer[])[] = []): GrowingTree => {
  const levels = tail.map((hashes) => [...hashes])
  let count = size

  const addAt = (level: number, hash: Buffer): readonly Subtree[] => {
    const hashes = (levels[level] ??= [])
    hashes.push(hash)
    if (hashes.length < TILE_WIDTH) return NONE
    const root = rootOf(hashes)
    levels[level] = []
    const index = count / TILE_WIDTH ** (level + 1) - 1
    return [{ level: level + 1, index, hash: root }, ...addAt(level + 1, root)]
  }

  const add = (leaf: Buffer) => {
    count += 1
    return addAt(0, leaf)
  }

  /** From the right: the root of each level's tile joins those of the levels above. */
  const root = () => {
    const tiles = levels.filter((hashes) => hashes.length > 0).map(peaksOf)
    const peaks = tiles.reverse().flat()
    return peaks.length === 0 ? EMPTY_ROOT : peaks.reduceRight((right, left) => nodeHash(left, right))
  }

  return { size: () => count, root, add }
}

/** The roots of the largest complete subtrees over these hashes, from left to right. */
const peaksOf = (hashes: readonly Buffer[]): Buffer[] =>
  rangesOf({ from: 0, to: hashes.length }).map(({ from, to }) => rootOf(hashes.slice(from, to)))

/** How many hashes the incomplete tile of a level has in a tree of this size. */
export const tailWidth = (level: number, size: number): number => Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH

const isOdd = (n: number) => n % 2 === 1
const half = (n: number) => Math.floor(n / 2)

/** The root that an inclusion proof leads to; undefined for a proof of the wrong length. */
export const rootByInclusion = (
  leaf: Buffer,
  { index, size }: { readonly index: number; readonly size: number },
  proof: readonly Buffer[],
): Buffer | undefined => {
  if (!(index < size)) return undefined
  let [node, last, root] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (last === 0) return undefined
    if (isOdd(node) || node === last) {
      root = nodeHash(sibling, root)
      while (!isOdd(node) && node > 0) [node, last] = [half(node), half(last)]
    } else root = nodeHash(root, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? root : undefined
}

/** A tree's size and root. */
export type TreeHead = { readonly size: number; readonly root: Buffer }

/** Whether a consistency proof shows that the newer tree begins with the leaves of the older one. */
export const isConsistent = (older: TreeHead, newer: TreeHead, proof: readonly Buffer[]): boolean => {
  if (older.size > newer.size) return false
  if (older.size === 0) return proof.length === 0 && older.root.equals(EMPTY_ROOT)
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root)
  let [node, last] = [older.size - 1, newer.size - 1]
  while (isOdd(node)) [node, last] = [half(node), half(last)]
  const [first, ...rest] = node > 0 ? proof : [older.root, ...proof]
  if (!first) return false
  let [old, whole] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      old = nodeHash(sibling, old)
      whole = nodeHash(sibling, whole)
      while (!isOdd(node) && node > 0) [node, last] = [half(node), half(last)]
    } else whole = nodeHash(whole, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && old.equals(older.root) && whole.equals(newer.root)
}
