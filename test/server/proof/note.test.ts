import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openCheckpoint, signCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import {
  BadKey,
  BadNote,
  generateSigner,
  isKeyName,
  openNote,
  parseSigner,
  parseVerifier,
  renameSigner,
  signNote,
} from '../../../src/server/proof/note.ts'
import { EMPTY_ROOT, leafHash } from '../../../src/server/proof/tree.ts'

const test = suite('proof/note')

// The example of the documentation of Go's `sumdb/note`.
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const PETER_SECRET = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'
const SAID = `If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n`
const SIGNED = `${SAID}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`

test('notes are written and read as by Go’s note package', () => {
  const signer = parseSigner(PETER_SECRET)
  assert.is(signer.verifier.text, PETER)
  assert.is(signNote(SAID, signer), SIGNED)
  assert.is(openNote(SIGNED, parseVerifier(PETER)), SAID)
})

test('new keys can be read, with other names too', () => {
  const signer = generateSigner('traces.example.com/log')
  assert.is(parseSigner(signer.text).verifier.text, signer.verifier.text)
  const renamed = renameSigner(signer, 'other.example.com')
  assert.is(renamed.text.split('+').at(-1), signer.text.split('+').at(-1))
  assert.is.not(renamed.verifier.text, signer.verifier.text)
  assert.is(openNote(signNote('a\n', renamed), parseVerifier(renamed.verifier.text)), 'a\n')
  for (const name of ['', 'a b', 'a+b', 'a\nb', 'a\u00a0b', 'a\u0085b']) {
    assert.not(isKeyName(name), name)
    assert.throws(
      () => generateSigner(name),
      (error: unknown) => error instanceof BadKey,
    )
  }
})

test('invalid keys are refused, without repeating a secret', () => {
  const secret = PETER_SECRET.split('+').at(-1)!
  for (const text of [
    '',
    PETER,
    PETER_SECRET.slice(0, -4),
    PETER_SECRET.replace('c74f20a3', 'c74f20a4'),
    PETER_SECRET.replace('+AYE', '+AoE'),
    `${PETER_SECRET}\n`,
  ]) {
    try {
      parseSigner(text)
      assert.unreachable(text)
    } catch (error) {
      assert.instance(error, BadKey)
      assert.not.match((error as Error).message, secret)
    }
  }
  for (const text of ['', PETER_SECRET, PETER.replace('c7', 'C7'), PETER.replace('Peter', 'Pete'), `${PETER}=`])
    assert.throws(
      () => parseVerifier(text),
      (error: unknown) => error instanceof BadKey,
    )
})

test('a note that was changed, or signed by another key, is refused', () => {
  const verifier = parseVerifier(PETER)
  const line = SIGNED.split('\n').at(-2)!
  const forged = `${line.slice(0, -4)}AAA=`
  for (const note of [
    '',
    SAID,
    SIGNED.replace('answer', 'question'),
    SIGNED.slice(0, -1),
    SIGNED.replace('\n\n', '\n'),
    SIGNED.replace('PeterNeumann', 'PeterNewmann'),
    SIGNED.replace('x08g', 'x08h'),
    SIGNED.replace(line, forged),
    SIGNED.replace('you ', 'you\t'),
    `${SIGNED}garbage\n`,
    `${SIGNED}${line.slice(0, -4)}AAA=\n`,
    `${SIGNED}\n`,
    `${SIGNED}\u2014 a\u0085b ${line.split(' ').at(-1)!}\n`,
  ])
    assert.throws(
      () => openNote(note, verifier),
      (error: unknown) => error instanceof BadNote,
      note,
    )
})

test('signatures of other keys are ignored', () => {
  const [one, other] = [generateSigner('one'), generateSigner('other')]
  const note = signNote('text\n', one)
  const cosigned = `${note}${signNote('text\n', other).split('\n').at(-2)}\n`
  for (const { verifier } of [one, other]) assert.is(openNote(cosigned, verifier), 'text\n')
})

test('signs checkpoints of three lines, and reads no others', () => {
  const signer = generateSigner('traces.example.com')
  const root = leafHash('x')
  const note = signCheckpoint({ size: 1, root }, signer)
  assert.match(note, `traces.example.com\n1\n${root.toString('base64')}\n\n— traces.example.com `)
  assert.equal(openCheckpoint(note, signer.verifier), { origin: 'traces.example.com', size: 1, root })
  assert.is(openCheckpoint(signCheckpoint({ size: 0, root: EMPTY_ROOT }, signer), signer.verifier).size, 0)
  const text = (size: string, hash: string, more = '') => signNote(`o\n${size}\n${hash}\n${more}`, signer)
  const hash = root.toString('base64')
  assert.is(openCheckpoint(text('7', hash, 'an extension\n'), signer.verifier).size, 7)
  for (const bad of [
    text('01', hash),
    text('-1', hash),
    text('1', 'AAAA'),
    text('1e3', hash),
    text('9'.repeat(17), hash),
  ])
    assert.throws(
      () => openCheckpoint(bad, signer.verifier),
      (error: unknown) => error instanceof BadNote,
    )
})

test.run()
