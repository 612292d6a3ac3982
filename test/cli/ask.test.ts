import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('questions on a terminal')
const module = new URL('../../src/cli/ask.ts', import.meta.url).href
const script = `const { askToConfirm } = await import('${module}')
console.log(await askToConfirm('It is meant.').catch(({ message }) => message))`

/** What is asked, and what comes of it, with this as the input. */
const answered = async (input: string) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
  child.stdin.end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err }
}

test('a question that is answered gives the answer', async () => {
  assert.equal(await answered('y\n'), { out: 'true\n', err: 'It is meant.\nContinue? [y/N] ' })
})

test('a question that nobody answers ends its line', async () => {
  assert.equal(await answered(''), {
    out: 'Not confirmed: nothing was changed.\n',
    err: 'It is meant.\nContinue? [y/N] \n',
  })
})

test.run()
