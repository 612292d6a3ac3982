import { appendFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { watchReads } from '../../../../src/client/agents/support/chunks.ts'
import { objectLines } from '../../../../src/client/agents/support/lines.ts'
import { readFrom } from '../../support/added-lines.ts'
import { readSession } from '../../support/read-session.ts'
import { answerLine, text, userLine } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('a session file in UTF-16, as PowerShell redirects write it')
const { path, remove } = tempFolder()
test.after(remove)

const encodings = {
  little: (content: string) => Buffer.from(`\uFEFF${content}`, 'utf16le'),
  big: (content: string) => Buffer.from(`\uFEFF${content}`, 'utf16le').swap16(),
}

for (const [name, encode] of Object.entries(encodings))
  test(`it is read as if it were in UTF-8, ${name} end first, in chunks that end within characters, too`, async () => {
    const file = join(path, `${name}.jsonl`)
    const texts = Array.from({ length: 90_000 }, (_, index) => `${'x'.repeat(index % 7)}ü🙂\u2028`)
    writeFileSync(file, encode(texts.map((one) => `${JSON.stringify({ one })}\r\n`).join('')))
    const { size } = statSync(file)
    let read = 0
    const lines = await watchReads(
      (bytes) => void (read += bytes),
      () =>
        Array.fromAsync(
          objectLines(
            file,
            size,
            () => true,
            () => assert.unreachable(),
          ),
        ),
    )
    assert.equal(
      lines.map(({ json }) => json['one']),
      texts,
    )
    assert.is(read, size)
  })

const some = [userLine('u-1', 'hello ü'), answerLine('a-1', 'm-1', [text('hi 🙂')])]

test('it is recognised, gives the same session, and is read whole when it grows', async () => {
  const [file, plain] = [join(path, 's-1.jsonl'), join(path, 's-2.jsonl')]
  writeFileSync(file, encodings.little(some.map((line) => `${line}\r\n`).join('')))
  writeFileSync(plain, some.map((line) => `${line}\n`).join(''))
  const found = await findSessionFiles([claudeCode], [file], { env: {}, home: '/none' }, assert.unreachable)
  assert.is(found.length, 1)
  assert.equal((await readSession(file)).messages, (await readSession(plain)).messages)
  const { live } = await readFrom(claudeCode, file)
  appendFileSync(file, Buffer.from(`${userLine('u-2', 'more')}\r\n`, 'utf16le'))
  const { messages, isContinued, malformed } = await readFrom(claudeCode, file, live)
  assert.equal([messages.size, isContinued, malformed], [3, false, []])
})

test.run()
