import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isSameMessage, isEarlierVersion, showsSecret, withMarksOf } from '../../../src/client/upload/within.ts'

const test = suite('an earlier version of a message')

const textPart = (text: string) => ({ type: 'text', content: { text } })
const resultPart = (output: string) => ({
  type: 'tool_result',
  content: { callId: 'c-1', toolName: 'Bash', output, status: 'success' },
})
const callPart = (callId: string) => ({
  type: 'tool_call',
  content: { callId, toolName: 'Bash', args: { command: 'ls' } },
})
const message = (...parts: readonly { type: string; content: object }[]) => ({ role: 'assistant', parts })

const anyPart = fc.oneof(
  fc.string().map(textPart),
  fc.string().map(resultPart),
  fc.constantFrom('a', 'b', 'c').map(callPart),
)

/** A part as it was while its text was written. */
const cut = (part: { type: string; content: object }, length: number) => ({
  ...part,
  content: Object.fromEntries(
    Object.entries(part.content).map(([name, value]) =>
      name === 'text' || name === 'output' ? [name, String(value).slice(0, length)] : [name, value],
    ),
  ),
})

test('an earlier version of a message has some of its parts, and the beginnings of their texts', () => {
  const versions = fc.array(fc.tuple(anyPart, fc.boolean(), fc.nat(10)))
  fc.assert(
    fc.property(versions, (parts) => {
      const whole = message(...parts.map(([part]) => part))
      const earlier = parts.filter(([, isThere]) => isThere).map(([part, , length]) => cut(part, length))
      assert.ok(isEarlierVersion(message(...earlier), whole))
    }),
  )
})

test('an earlier version is also a later version only if both are the same', () => {
  fc.assert(
    fc.property(fc.array(anyPart), fc.array(anyPart), (some, others) => {
      const [one, other] = [message(...some), message(...others)]
      if (isEarlierVersion(one, other) && isEarlierVersion(other, one)) assert.ok(isSameMessage(one, other))
    }),
  )
})

test('a message with a different text, call or result is not an earlier version', () => {
  const whole = message(textPart('hello there'), callPart('c-1'), resultPart('done'))
  assert.not(isEarlierVersion(message(textPart('hello, and more')), whole))
  assert.not(isEarlierVersion(message(callPart('c-2')), whole))
  const failed = { ...resultPart('done'), content: { ...resultPart('done').content, status: 'error' } }
  assert.not(isEarlierVersion(message(failed), whole))
  assert.not(isEarlierVersion(message(callPart('c-1'), textPart('hello')), whole), 'another order')
})

test('an earlier version can hold a secret that is redacted later, but never the other way round', () => {
  const [secret, redacted] = [message(textPart('take q7Zr2LmX9v')), message(textPart('take [redacted:token]'))]
  assert.ok(isEarlierVersion(secret, redacted))
  assert.not(isEarlierVersion(redacted, secret))
})

test('the redacted secret of an earlier version can be in the arguments of a call or within a text', () => {
  const call = (command: string) => ({
    type: 'tool_call',
    content: { callId: 'c', toolName: 'Bash', args: { command } },
  })
  const whole = message(call('curl -H x:[redacted:value] -v'), textPart('it is [redacted:value], and more'))
  assert.ok(isEarlierVersion(message(call('curl -H x:q7Zr2LmX9v -v')), whole))
  assert.not(isEarlierVersion(message(call('curl -H x:q7Zr2LmX9v')), whole), 'another call')
  for (const text of [
    'it is',
    'it is q7Zr',
    'it is q7Zr2LmX9v, a',
    'it is [redacted:value], and',
    'it is q7Zr2LmX9v, and more',
  ])
    assert.ok(isEarlierVersion(message(textPart(text)), whole), text)
  for (const text of [
    'it was',
    'it is q7Zr2LmX9v, or',
    'it is q7Zr2LmX9v, and more than that',
    'it is not so, and more',
  ])
    assert.not(isEarlierVersion(message(textPart(text)), whole), text)
  assert.not(
    isEarlierVersion(message(textPart('it is [redacted:value]')), message(textPart('it is q7Zr2LmX9v, and more'))),
  )
})

const KEY = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIIEowIBAAKCAQEAx7Zr',
  'T4nW2kXvB9mLpC3sJd8F',
  '-----END RSA PRIVATE KEY-----',
]

/** Texts with secrets that have white space, and redacted. */
const spaced: Readonly<Record<string, readonly [text: string, redacted: string]>> = {
  'a private key': [`it is\n${KEY.join('\n')}`, 'it is\n[redacted:privatekey]'],
  'a private key within a text': [`it is\n${KEY.join('\n')}\nthe end`, 'it is\n[redacted:privatekey]\nthe end'],
  'a private key in code': [`"${KEY.join('\\n')}", x`, '"[redacted:privatekey]", x'],
  'a value of an environment file': ['A=1\nB=some Words 12', 'A=1\nB=[redacted:env-value]'],
  'one before another line': ['B=some Words 12\nC=1', 'B=[redacted:env-value]\nC=1'],
  'a password between quotes': ['password: "Some Words 12" there', 'password: "[redacted:secret-value]" there'],
  'a passphrase': ['passphrase: correct horse battery', 'passphrase: [redacted:secret-value]'],
  'several of them': ['p="a B 1" q="c D 2"', 'p="[redacted:secret-value]" q="[redacted:secret-value]"'],
}
const argument = (args: object) => ({ type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args } })

for (const [what, [text, redacted]] of Object.entries(spaced))
  test(`${what} is known as the secret that a mark is for`, () => {
    for (const part of [textPart, resultPart, (command: string) => argument({ command })]) {
      const [secret, marked] = [message(part(text)), message(part(redacted))]
      assert.ok(isEarlierVersion(secret, marked))
      assert.ok(showsSecret(secret, marked))
      assert.equal(withMarksOf(secret, marked), marked)
    }
    const grown = withMarksOf(message(textPart(`${text}\nand more`)), message(textPart(redacted)))
    assert.equal(grown, message(textPart(`${redacted}\nand more`)))
    for (let length = 0; length < text.length; length++)
      assert.ok(
        isEarlierVersion(message(textPart(text.slice(0, length))), message(textPart(redacted))),
        text.slice(0, length),
      )
  })

test.run()
