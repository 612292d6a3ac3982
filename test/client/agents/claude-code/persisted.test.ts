import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSession } from '../../support/read-session.ts'
import { answerLine, call, result, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('large outputs of a Claude Code session')
const { path, remove } = tempFolder()
test.after(remove)

const outputs = join(path, 's-1', 'tool-results')
mkdirSync(outputs, { recursive: true })
mkdirSync(join(path, 's-1', 'subagents'))

const noticeOf = (file: string) =>
  `<persisted-output>\nOutput too large (34.3KB). Full output saved to: ${file}\n\nPreview (first 2KB):\nbeg\n...\n</persisted-output>`

const outputIn = async (name: string, content: unknown): Promise<string> => {
  const lines = [answerLine('a-1', 'm-1', [call('t-1', 'Bash')]), userLine('u-1', [result('t-1', content)])]
  const { messages } = await readSession(writeSession(path, name, lines))
  const part = messages[1]?.parts[0]
  return part?.type === 'tool_result' ? part.content.output : ''
}

const kept = (content: string) => outputIn('s-1.jsonl', content)

test('a large output is read from a file in the session’s folder, even if the folder has been moved since (rule 5)', async () => {
  writeFileSync(join(outputs, 'toolu_1.txt'), 'all of it\n')
  const notice = noticeOf('/home/someone/.claude/projects/-w-app/s-1/tool-results/toolu_1.txt')
  assert.is(await kept(notice), 'all of it\n')
  assert.is(await outputIn('s-1.jsonl', [{ type: 'text', text: notice }]), 'all of it\n')
  assert.is(await kept(noticeOf('C:\\Users\\me\\.claude\\projects\\x\\s-1\\tool-results\\toolu_1.txt')), 'all of it\n')
  assert.is(await outputIn(join('s-1', 'subagents', 'agent-a.jsonl'), notice), 'all of it\n')
  assert.is(await outputIn('agent-b.jsonl', notice), 'all of it\n')
})

test('the notice about a large output stays if its file is missing or outside of the session’s folder (rule 5)', async () => {
  const secret = join(path, 'secret.txt')
  writeFileSync(secret, 'secret')
  writeFileSync(join(path, 's-1', 'beside.txt'), 'secret')
  symlinkSync(secret, join(outputs, 'link.txt'))
  mkdirSync(join(outputs, 'folder.txt'))
  mkdirSync(join(path, 's-2'))
  mkdirSync(join(path, 'elsewhere'))
  writeFileSync(join(path, 'elsewhere', 'toolu_2.txt'), 'secret')
  symlinkSync(join(path, 'elsewhere'), join(path, 's-2', 'tool-results'))
  for (const file of [
    '/tool-results/none.txt',
    secret,
    '/tool-results/../beside.txt',
    '/tool-results/..',
    '/tool-results/link.txt',
    '/tool-results/folder.txt',
    '/tool-results/',
  ])
    assert.is(await kept(noticeOf(file)), noticeOf(file))
  const linked = noticeOf('/x/s-2/tool-results/toolu_2.txt')
  assert.is(await outputIn('s-2.jsonl', linked), linked)
  const quoted = `it says ${noticeOf('/tool-results/toolu_1.txt')}`
  assert.is(await kept(quoted), quoted)
})

test('a large output is truncated to 1 MiB at a character boundary (rule 5)', async () => {
  writeFileSync(join(outputs, 'huge.txt'), `x${'ü'.repeat(1 << 20)}`)
  const output = await kept(noticeOf('/x/tool-results/huge.txt'))
  assert.match(output, /^xü+\n… \([\d,]+ bytes more\)$/)
  assert.ok(Buffer.byteLength(output) < (1 << 20) + 100)
})

test.run()
