import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/client/agents/index.ts'
import { newWorld } from '../support/client-world.ts'
import { meta, prompt as typedInCodex } from '../support/codex-file.ts'
import { prompt as typedInCopilot, start as copilotStart } from '../support/copilot-file.ts'
import { entry, header, user } from '../support/pi-file.ts'
import { typed as typedInQwen } from '../support/qwen-file.ts'
import { userLine } from '../support/session-file.ts'
import { cursorDatabase, typed as typedInCursor } from './cursor/database-file.ts'
import { metadata, typed } from './gemini-cli/records.ts'
import { answerInfo, opencodeDatabase, text, tool, userInfo } from './opencode/database-file.ts'

const test = suite('sessions of several agents on one machine')

/** A user with a session of each agent. */
const newMachine = async () => {
  const world = await newWorld()
  const put = (file: string, content: string) => {
    const path = join(world.home, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return path
  }
  put('.claude/projects/-w/s-1.jsonl', `${userLine('u-1', 'Hello Claude')}\n`)
  put('.gemini/tmp/app/chats/session-1.jsonl', `${metadata({ sessionId: 'g-1' })}\n${typed('m-1', 'Hello Gemini')}\n`)
  put('.codex/sessions/2026/02/01/rollout-x.jsonl', `${meta('x-1')}\n${typedInCodex('Hello Codex')}\n`)
  put(
    '.copilot/session-state/h-1/events.jsonl',
    `${copilotStart({ sessionId: 'h-1' })}\n${typedInCopilot('e-1', 'Hello Copilot')}\n`,
  )
  put('.pi/agent/sessions/--w--/time_p-1.jsonl', `${header({ id: 'p-1' })}\n${entry('e-1', null, user('Hello pi'))}\n`)
  put('.qwen/projects/-w/chats/q-1.jsonl', `${typedInQwen('u-1', null, 'Hello Qwen', { sessionId: 'q-1' })}\n`)
  const data = join(world.home, '.local', 'share', 'opencode')
  mkdirSync(data, { recursive: true })
  const opencode = opencodeDatabase(join(data, 'opencode.db'))
  opencode.session('ses_1', { title: 'In opencode' })
  opencode.message('ses_1', 'msg_1', userInfo)
  opencode.part('ses_1', 'msg_1', 'prt_1', text('Hello opencode'))
  opencode.message('ses_1', 'msg_2', answerInfo)
  opencode.part('ses_1', 'msg_2', 'prt_2', tool('c', 'bash', { status: 'running' }))
  const cursor = cursorDatabase(join(world.home, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb'))
  cursor.composer('c-1', ['b-1'], { name: 'In Cursor' })
  cursor.bubble('c-1', 'b-1', typedInCursor('Hello Cursor'))
  const close = async () => {
    for (const database of [opencode, cursor]) database.close()
    await world.close()
  }
  return {
    ...world,
    put,
    opencode,
    cursor,
    close,
    sync: () => world.sync({ agents }),
    writesOf: () => world.writesOf({ agents }),
  }
}

test('all sessions are uploaded, and a second run uploads only changed ones', async () => {
  const machine = await newMachine()
  const { summary } = await machine.sync()
  assert.equal([summary.synced, summary.new, summary.failed, summary.exitCode], [8, 9, 0, 0])
  assert.equal(
    machine.server.traces.map(({ externalId, fields }) => [fields['agentId'], externalId, fields['title']]).sort(),
    [
      ['claude-code', 's-1', 'Hello Claude'],
      ['codex', 'x-1', 'Hello Codex'],
      ['copilot-cli', 'h-1', 'Hello Copilot'],
      ['cursor', 'c-1', 'In Cursor'],
      ['gemini-cli', 'g-1', 'Hello Gemini'],
      ['opencode', 'ses_1', 'In opencode'],
      ['pi', 'p-1', 'Hello pi'],
      ['qwen-code', 'q-1', 'Hello Qwen'],
    ],
  )
  assert.equal(await machine.writesOf(), [])
  machine.opencode.part('ses_1', 'msg_2', 'prt_2', tool('c', 'bash', { status: 'completed', output: 'ok' }))
  const { summary: next } = await machine.sync()
  assert.equal([next.synced, next.unchanged, next.new, next.updated], [1, 7, 0, 1])
  await machine.close()
})

test('if one database is damaged, only its sessions fail, with its name and the reason', async () => {
  const machine = await newMachine()
  const damaged = machine.put('.local/share/opencode/opencode-dev.db', 'damaged'.repeat(1_000))
  const { summary, events } = await machine.sync()
  assert.equal([summary.synced, summary.failed, summary.exitCode], [8, 1, 1])
  assert.equal(
    events.flatMap((event) => (event.type === 'problem' ? [event] : [])),
    [
      {
        type: 'problem',
        kind: 'session_failed',
        file: damaged,
        message: 'the database cannot be read: file is not a database',
      },
    ],
  )
  await machine.close()
})

test.run()
