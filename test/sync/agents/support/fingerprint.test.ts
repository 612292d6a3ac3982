import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  checked,
  checksumsOf,
  type Fingerprint,
  fingerprintAt,
  isAsRead,
  newChecksums,
} from '../../../../src/sync/agents/support/fingerprint.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the fingerprint of a file')
const { path: folder, remove } = tempFolder()
test.after(remove)

const path = join(folder, 'file')
const BLOCK = 1 << 16
const OFFSET = 3 * BLOCK + 1_000
const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => (index * 31) % 251))
const content = bytesOf(OFFSET + 500)
const changed = (at: number, before = content): Buffer => {
  const copy = Buffer.from(before)
  copy[at]! ^= 1
  return copy
}
const without = (at: number): Buffer => Buffer.concat([content.subarray(0, at), content.subarray(at + 1)])

/** The checksums of some bytes that come in pieces of any length. */
const checksumsIn = (bytes: Buffer, step = 10_000) => {
  const { add, all } = newChecksums()
  for (let at = 0; at < bytes.length; at += step) add(bytes.subarray(at, at + step))
  return all()
}
const write = async (bytes: Buffer, length: number): Promise<Fingerprint> => {
  writeFileSync(path, bytes)
  return (await fingerprintAt(path, checksumsIn(bytes), length, undefined))!
}

test('a fingerprint stays the same when the file is appended to, and does not depend on how the bytes were chunked', async () => {
  const fingerprint = await write(content.subarray(0, OFFSET), OFFSET)
  appendFileSync(path, content.subarray(OFFSET))
  assert.ok(await checked(path, fingerprint, OFFSET))
  assert.equal(checksumsIn(content, 7), checksumsIn(content, 1 << 20))
  const known = checksumsOf(fingerprint, OFFSET)
  assert.equal(known, checksumsIn(content.subarray(0, OFFSET)))
  const { add, all } = newChecksums(known)
  add(content.subarray(OFFSET))
  assert.equal(all(), checksumsIn(content))
})

test('a fingerprint differs if a byte before the offset was removed or changed, even if bytes were appended too', async () => {
  const fingerprint = await write(content, OFFSET)
  const places = [0, 4_095, BLOCK, 2 * BLOCK - 1, 3 * BLOCK, OFFSET - 1]
  for (const other of [...places.map((at) => changed(at)), ...places.map(without)]) {
    writeFileSync(path, Buffer.concat([other, content]))
    assert.is(await checked(path, fingerprint, OFFSET), undefined)
  }
  writeFileSync(path, changed(OFFSET))
  assert.ok(await checked(path, fingerprint, OFFSET))
})

test('a fingerprint checks a limited number of blocks of a large file, the next ones in turn, and all of them after a minute', async () => {
  const large = bytesOf(150 * BLOCK)
  const fingerprint = await write(large, large.length)
  const now = fingerprint.allAt
  const looked = async (from: Fingerprint | undefined, block: number, at = now) => {
    writeFileSync(path, changed(block * BLOCK + 7, large))
    return (await checked(path, from!, large.length, at)) === undefined
  }
  const next = async (from: Fingerprint | undefined, at = now) => {
    writeFileSync(path, large)
    return checked(path, from!, large.length, at)
  }
  const second = await next(fingerprint)
  const third = await next(second)
  const rounds = [fingerprint, second, third]
  for (const [block, expected] of [
    [0, [true, true, true]],
    [1, [true, false, true]],
    [63, [true, false, false]],
    [64, [false, true, false]],
    [130, [false, false, true]],
    [149, [true, true, true]],
  ] as const)
    for (const [index, from] of rounds.entries()) assert.is(await looked(from, block), expected[index], `${block}`)
  assert.ok(await looked(fingerprint, 100, now + 60_000))
  assert.ok(await looked(fingerprint, 100, now - 1), 'the clock was set back')
  const all = await next(third, now + 60_000)
  assert.equal([all?.allAt, all?.next], [now + 60_000, 0])
})

test('a fingerprint differs for a copy that replaced the file', async () => {
  const fingerprint = await write(content, OFFSET)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  assert.is(await checked(path, fingerprint, OFFSET), undefined)
})

test('a shorter or a missing file has no fingerprint', async () => {
  const fingerprint = await write(content, OFFSET)
  truncateSync(path, OFFSET - 1)
  assert.is(await checked(path, fingerprint, OFFSET), undefined)
  assert.is(await fingerprintAt(path, checksumsIn(content), OFFSET, undefined), undefined)
  const none = join(folder, 'none')
  assert.is(await fingerprintAt(none, checksumsIn(Buffer.alloc(0)), 0, undefined), undefined)
  assert.is(await checked(none, fingerprint, OFFSET), undefined)
})

test('isAsRead is true if the bytes from the block of an offset on are unchanged and the file was only appended to', async () => {
  const read = checksumsIn(content)
  writeFileSync(path, Buffer.concat([content, content]))
  assert.ok(await isAsRead(path, read, 0))
  for (const [at, from, expected] of [
    [10, 0, false],
    [10, BLOCK + 1, true],
    [2 * BLOCK, BLOCK + 1, false],
    [content.length - 1, content.length - 1, false],
  ] as const) {
    writeFileSync(path, changed(at))
    assert.is(await isAsRead(path, read, from), expected, `${at} from ${from}`)
  }
})

test.run()
