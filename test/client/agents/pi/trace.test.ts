import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { pi } from '../../../../src/client/agents/pi/index.ts'
import { assistant, entry, header, reader, text, user } from '../../support/pi-file.ts'
import { readSession } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the trace of a pi session')
const { path, remove } = tempFolder()
test.after(remove)
const { trace, read } = reader(path)

test('sessions are searched in the folders of pi', () => {
  assert.equal(pi.roots({}, '/home/me'), ['/home/me/.pi/agent/sessions'])
  assert.equal(pi.roots({ PI_CODING_AGENT_DIR: '/p' }, '/home/me'), ['/p/sessions'])
  assert.equal(pi.roots({ PI_CODING_AGENT_SESSION_DIR: '/s' }, '/home/me'), ['/home/me/.pi/agent/sessions', '/s'])
})

test('the fields come from the header and the path', async () => {
  const answers = ['a', 'b', 'b'].map((model, index) =>
    entry(`m-${index}`, undefined, assistant([text('x')], { model })),
  )
  assert.equal(await trace(header(), entry('u', null, user('Fix\n it')), ...answers), {
    agentId: 'pi',
    title: 'Fix it',
    projectPath: '/w/app',
    projectName: 'app',
    model: 'b',
  })
})

test('the title is the session’s latest name, else the first prompt (rule 9)', async () => {
  const prompt = entry('a', null, user('Fix it'))
  const named = (id: string, name: string) => entry(id, 'a', { type: 'session_info', name })
  assert.is((await trace(header(), prompt, named('b', 'One'), named('c', 'Two'))).title, 'Two')
  assert.is((await trace(header(), prompt, named('b', ' '), named('c', 'New session'))).title, 'Fix it')
})

test('an empty name takes the title away, and the header may have one (rule 9)', async () => {
  const prompt = entry('a', null, user('Fix it'))
  const named = (id: string, name: string) => entry(id, 'a', { type: 'session_info', name })
  assert.is((await trace(header(), prompt, named('b', 'One'), named('c', ''))).title, 'Fix it')
  assert.is((await trace(header({ title: 'In the header' }), prompt)).title, 'In the header')
  assert.is((await trace(header({ title: 'In the header' }), prompt, named('b', 'One'))).title, 'One')
})

test('a fork comes from the session whose file its header names (rule 1)', async () => {
  const lines = [entry('a', null, user('copied')), entry('b', 'a', user('own'))]
  for (const parent of [
    '/home/me/.pi/agent/sessions/--w--/2026-02-01T10-00-00-000Z_s-0.jsonl',
    'C:\\pi\\2026_s-0.jsonl',
  ]) {
    const { session, messages } = await read(header({ parentSession: parent }), ...lines)
    assert.equal([session.trace.parentExternalId, session.trace.parentKind], ['s-0', 'fork'])
    assert.is(messages.length, 2, 'what the file has is stored')
  }
  assert.is((await trace(header(), ...lines)).parentKind, undefined)
})

test('without a header the id is taken from the file’s name (rule 1)', async () => {
  assert.is((await read(entry('a', null, user('x')))).session.externalId, 's-0')
  assert.is((await read(header(), entry('a', null, user('x')))).session.externalId, 's-1')
  const other = join(path, 'bare.jsonl')
  writeFileSync(other, '')
  assert.is((await readSession(other, pi)).session.externalId, 'bare')
})

test('a file is recognised if it begins with a header', () => {
  assert.ok(pi.recognises('/x.jsonl', `${header()}\n${entry('a', null, user('x'))}`))
  assert.ok(pi.recognises('/x.jsonl', `${header()}\n{"type":"mess`))
  for (const other of [
    '',
    '{"type":"session"}\n',
    '{"type":"session","id":7,"timestamp":"","cwd":""}\n',
    header().slice(0, -1),
  ])
    assert.not(pi.recognises('/x.jsonl', other), other)
})

test.run()
