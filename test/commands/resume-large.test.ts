import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, tokenIn } from './support/api.ts'
import { start } from './support/processes.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('tracebook resume, of a session of 50 MB')

const MESSAGES = 10_000
const BATCH = 200
const ID = '5e550000-0000-4000-8000-00000000000a'
const MOST_MEGABYTES = 300

/** Says at the end how much memory the process has had. */
const MEASURED = `--import=data:text/javascript,process.on('exit',()=>process.stderr.write('rss%20'+process.resourceUsage().maxRSS))`

/** A prompt, an answer with a call, and its result, each of 5 kB, again and again. */
const messageAt = (i: number) => {
  const words = `${i} ${'so it goes on, '.repeat(340)}`
  const callId = `toolu_${i - (i % 3) + 1}`
  const [role, part] = [
    ['user', { type: 'text', content: { text: words } }],
    ['assistant', { type: 'tool_call', content: { callId, toolName: 'Bash', args: { command: words } } }],
    ['user', { type: 'tool_result', content: { callId, toolName: 'Bash', output: words, status: 'success' } }],
  ][i % 3] as [string, object]
  return { externalId: `m-${i}`, role, order: i, parts: [part] }
}

test('takes memory for a few pages, not for the session, and writes all of it for both agents', () =>
  inOwnWorld(async ({ url, user, putTrace }) => {
    await putTrace(user, ID)
    const token = tokenIn(user.config)
    for (let from = 0; from < MESSAGES; from += BATCH) {
      const messages = Array.from({ length: BATCH }, (_, i) => messageAt(from + i))
      await ask(url, `/v1/traces/${ID}/messages/batch`, { token, method: 'POST', body: { messages } })
    }
    const dir = join(dirname(user.config), 'work')
    mkdirSync(dir)
    for (const agent of ['claude-code', 'codex']) {
      const variables = { ...user.variables, NODE_OPTIONS: MEASURED }
      const { how, out, err } = await start(['resume', ID, '--dir', dir, '--in', agent, '--json'], variables).ended
      assert.is(how, 0, err)
      const { file, messages } = JSON.parse(out) as { readonly file: string; readonly messages: number }
      assert.is(messages, MESSAGES)
      assert.ok(statSync(file).size > 50e6)
      assert.match(readFileSync(file, 'utf8').slice(-20_000), `${MESSAGES - 1} so it goes on`)
      const megabytes = (Number(/rss (\d+)/.exec(err)?.[1]) * 1_024) / 1e6
      assert.ok(megabytes <= MOST_MEGABYTES, `${agent}: ${megabytes} MB`)
    }
  }))

test.run()
