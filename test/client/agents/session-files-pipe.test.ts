import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { findSessionFiles } from '../../../src/client/agents/session-files.ts'
import { tempFolder } from '../support/temp.ts'

test('a named pipe among session files is skipped without waiting for it', async () => {
  const { path, remove } = tempFolder()
  const pipe = join(path, 'pipe.jsonl')
  execFileSync('mkfifo', [pipe])
  const find = (place: string) => findSessionFiles([claudeCode], [place], { env: {}, home: path }, () => {})
  assert.equal(await find(path), [])
  const refusal = await find(pipe).catch((error: unknown) => error)
  assert.is((refusal as Error).name, 'UsageError')
  assert.match((refusal as Error).message, /neither a file nor a folder/)
  remove()
})

test.run()
