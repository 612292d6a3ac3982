import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasTerminals } from '../commands/support/processes.ts'

const test = suite('secrets that a command takes')
const module = new URL('../../src/cli/secret.ts', import.meta.url).href

/** Prints the secret that is read where the user has given this. */
const scriptFor = (given: string | true) => `const { readSecret } = await import('${module}')
const secret = { question: 'Code: ', variable: 'A_CODE', missing: 'there is none' }
const read = await readSecret(${JSON.stringify(given)}, secret).catch(({ name, message }) => name + ': ' + message)
console.log('<' + read + '>')`

const run = async (file: string, args: readonly string[], input: string, variables = {}) => {
  const child = spawn(file, args, { env: { PATH: process.env.PATH, ...variables } })
  child.stdin.end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err }
}
const readWith = (given: string | true, input: string, variables = {}) =>
  run(process.execPath, ['--input-type=module', '--eval', scriptFor(given)], input, variables)

test('a secret is the word itself, the first line of standard input, or a variable of the environment', async () => {
  assert.is((await readWith(' 4F7K ', '')).out, '<4F7K>\n')
  assert.equal(await readWith('-', ' 4F7K\nmore\n'), { out: '<4F7K>\n', err: '' })
  assert.is((await readWith('-', 'without an end')).out, '<without an end>\n')
  assert.is((await readWith(true, 'unread\n', { A_CODE: '4F7K' })).out, '<4F7K>\n')
  assert.is((await readWith('given', '', { A_CODE: '4F7K' })).out, '<given>\n')
})

test('a missing secret is wrong usage', async () => {
  for (const [given, input, variables] of [
    [true, '4F7K\n', {}],
    [true, '', { A_CODE: ' ' }],
    ['-', '', {}],
    ['-', '\n', {}],
    ['', '', {}],
  ] as const)
    assert.is((await readWith(given, input, variables)).out, '<UsageError: there is none>\n')
})

if (hasTerminals)
  test('on a terminal the secret is asked for, and not shown', async () => {
    for (const given of ['-', true] as const) {
      const line = `'${process.execPath}' --input-type=module --eval "$SCRIPT"`
      const env = { PATH: process.env.PATH, SHELL: '/bin/sh', SCRIPT: scriptFor(given) }
      const child = spawn('script', ['-qec', line, '/dev/null'], { env })
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        if (!shown.includes('Code:') && (shown + piece).includes('Code:')) child.stdin.write('4F7K\r')
        shown += piece
      })
      await once(child, 'close')
      assert.is(shown.replaceAll('\r', ''), 'Code: \n<4F7K>\n')
    }
  })

test.run()
