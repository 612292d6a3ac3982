import { globSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/sync/agents/index.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('recognising the agent of a file')
const data = sharedData()

if (!data) test.skip('no recorded sessions beside the repository')

/** The last one takes what is left. */
const strict = agents.slice(0, -1)

/** Files that hold parts of a session, which is read from another one. */
const isPart = (file: string): boolean =>
  /^agents\/opencode\/.*\/(?:message|part)\//.test(file) || /meta\.json$/.test(file)

/** The agents by whose name `agents/<folder>` begins. */
const ownersOf = (file: string): readonly string[] => {
  const folder = file.split(sep)[1] ?? ''
  return isPart(file) ? [] : strict.map(({ id }) => id).filter((id) => id.startsWith(folder))
}

for (const file of data ? globSync('{claude-code,agents}/**/*.{json,jsonl}', { cwd: data }) : [])
  test(`${file} is recognised by its own agent alone`, () => {
    const path = join(data!, file)
    const beginning = readFileSync(path).toString('utf8', 0, 1 << 16)
    const found = strict.filter(
      ({ extensions, recognises }) =>
        extensions.some((extension) => file.endsWith(extension)) && recognises(path, beginning),
    )
    assert.equal(
      found.map(({ id }) => id),
      ownersOf(file),
    )
  })

const beginnings: readonly (readonly [string, string, readonly string[]])[] = [
  ['/x/a.jsonl', '{"sessionId":"s","projectHash":"h"}\n{"id":"m"}', ['gemini-cli']],
  ['/x/a.jsonl', '{"sessionId":"s"}\n{"projectHash":"h"}', []],
  ['/x/a.jsonl', '{"type":"user","message":{"content":"{\\"sessionId\\":\\"s\\",\\"projectHash\\":\\"h\\"}"}}', []],
  ['/x/a.json', '{"name":"package","version":"1.0.0"}', []],
  ['/x/a.json', '[]', []],
  ['/x/a.json', '', []],
]
for (const [path, beginning, expected] of beginnings)
  test(`${path} that begins with ${JSON.stringify(beginning)} is recognised by ${expected.join() || 'none'}`, () => {
    const found = strict.filter(
      ({ extensions, recognises }) =>
        extensions.some((extension) => path.endsWith(extension)) && recognises(path, beginning),
    )
    assert.equal(
      found.map(({ id }) => id),
      expected,
    )
  })

test.run()
