import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  EMPTY_ROOT,
  type HashRange,
  type Span,
  consistencySpans,
  inclusionSpans,
  isConsistent,
  leafHash,
  newGrowingTree,
  rangesOf,
  rootByInclusion,
  rootOf,
  spanRoot,
  tailWidth,
} from '../../../src/server/proof/tree.ts'
import { naiveLeaf, naivePath, naiveProof, naiveRoot } from './naive.ts'

const test = suite('proof/tree')

const leavesOf = (count: number): Buffer[] => Array.from({ length: count }, (_, i) => leafHash(`${i}`))
const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))

/** What is stored of a tree: each level's hashes, as a tree that grows has given them out. */
const storedOf = (leaves: readonly Buffer[]): Buffer[][] => {
  const levels: Buffer[][] = [[...leaves]]
  const tree = newGrowingTree()
  for (const leaf of leaves) for (const { level, index, hash } of tree.add(leaf)) (levels[level] ??= [])[index] = hash
  return levels
}

const read =
  (levels: Buffer[][]) =>
  ({ level, from, to }: HashRange) =>
    levels[level]!.slice(from, to)

const rootIn = (levels: Buffer[][], span: Span) => spanRoot(rangesOf(span).map(read(levels)))

test('gives the results of the test vectors of RFC 6962 implementations', () => {
  assert.is(EMPTY_ROOT.toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  assert.is(leafHash('').toString('hex'), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
  const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const leaves = entries.map((text) => leafHash(Buffer.from(text, 'hex').toString('latin1')))
  assert.is(rootOf(leaves).toString('hex'), '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328')
})

test('an entry is hashed as UTF-8', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(leafHash(text), naiveLeaf(text))),
    { numRuns: 200 },
  ))

const MOST = 530
const leaves = leavesOf(MOST)
const levels = storedOf(leaves)
const size = fc.integer({ min: 1, max: MOST })

/** The definition takes long for all sizes: small ones, and those about full tiles. */
const isInteresting = (size: number) => size < 20 || (size + 2) % 256 < 5 || size % 67 === 0

test('a tree has the root of the definition, and grows from any size', () => {
  const tree = newGrowingTree()
  assert.equal(tree.root(), EMPTY_ROOT)
  for (const [i, leaf] of leaves.entries()) {
    tree.add(leaf)
    if (!isInteresting(i + 1)) continue
    const root = naiveRoot(leaves.slice(0, i + 1))
    assert.equal(tree.root(), root)
    const tail = levels.map((hashes, level) => {
      const end = Math.floor((i + 1) / 256 ** level)
      return hashes.slice(end - tailWidth(level, i + 1), end)
    })
    assert.equal(newGrowingTree(i + 1, tail).root(), root)
  }
})

test('proves that a leaf is in the tree, as the definition does', () =>
  fc.assert(
    fc.property(size, fc.nat(), (size, n) => {
      const index = n % size
      const proof = inclusionSpans(index, size).map((span) => rootIn(levels, span))
      assert.equal(hex(proof), hex(naivePath(index, leaves.slice(0, size))))
      const root = naiveRoot(leaves.slice(0, size))
      assert.equal(rootByInclusion(leaves[index]!, { index, size }, proof), root)
    }),
  ))

test('proves that a tree goes on from an older one, as the definition does', () =>
  fc.assert(
    fc.property(size, fc.nat(), (newer, n) => {
      const older = (n % newer) + 1
      const proof = consistencySpans(older, newer).map((span) => rootIn(levels, span))
      assert.equal(hex(proof), hex(naiveProof(older, leaves.slice(0, newer))))
      const [from, to] = [older, newer].map((size) => ({ size, root: naiveRoot(leaves.slice(0, size)) }))
      assert.ok(isConsistent(from!, to!, proof))
    }),
  ))

test('a proof of another leaf, position, size or tree is not accepted', () =>
  fc.assert(
    fc.property(fc.integer({ min: 2, max: MOST }), fc.nat(), fc.nat(), (size, n, bit) => {
      const [index, other] = [n % size, (n + 1) % size]
      const root = naiveRoot(leaves.slice(0, size))
      const proof = inclusionSpans(index, size).map((span) => rootIn(levels, span))
      const leadsTo = (leaf: Buffer, at: number, hashes: readonly Buffer[]) =>
        rootByInclusion(leaf, { index: at, size }, hashes)?.equals(root) === true
      assert.not(leadsTo(leaves[other]!, index, proof))
      assert.not(leadsTo(leaves[index]!, other, proof))
      assert.not(leadsTo(leaves[index]!, index, proof.slice(1)))
      assert.not(leadsTo(leaves[index]!, index, [...proof, root]))
      assert.not(leadsTo(leaves[index]!, size, proof))
      const bent = proof.map((hash) => Buffer.from(hash))
      const one = bent[bit % bent.length]!
      one[bit % 32]! ^= 1
      assert.not(leadsTo(leaves[index]!, index, bent))
      const older = { size: index + 1, root: naiveRoot(leaves.slice(0, index + 1)) }
      const consistency = consistencySpans(index + 1, size).map((span) => rootIn(levels, span))
      assert.not(isConsistent({ ...older, root: leaves[0]! }, { size, root: leaves[1]! }, consistency))
      assert.not(isConsistent(older, { size, root }, [...consistency, root]))
      assert.not(isConsistent({ size, root }, { size: size - 1, root }, consistency))
      if (consistency.length > 0) assert.not(isConsistent(older, { size, root }, consistency.slice(1)))
    }),
  ))

test('proves nothing from an empty tree, and equal sizes by equal roots', () => {
  assert.equal(consistencySpans(0, 5), [])
  assert.equal(consistencySpans(5, 5), [])
  const root = naiveRoot(leaves.slice(0, 5))
  assert.ok(isConsistent({ size: 0, root: EMPTY_ROOT }, { size: 5, root }, []))
  assert.not(isConsistent({ size: 0, root }, { size: 5, root }, []))
  assert.ok(isConsistent({ size: 5, root }, { size: 5, root }, []))
  assert.not(isConsistent({ size: 5, root }, { size: 5, root: EMPTY_ROOT }, []))
})

test('needs few hashes of a tree of millions', () => {
  const [index, size] = [12_345_678, 2 ** 40 + 12_345]
  const spans = inclusionSpans(index, size)
  assert.ok(spans.length <= 41)
  const hashes = spans.flatMap(rangesOf).reduce((sum, { from, to }) => sum + to - from, 0)
  assert.ok(hashes < 6 * 2 * 256, `${hashes} hashes`)
  for (const { from, to } of spans.flatMap(rangesOf)) assert.is(Math.floor(from / 256), Math.floor((to - 1) / 256))
})

test.run()
