import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../../src/client/agents/index.ts'
import { findSessionFiles } from '../../../src/client/agents/session-files.ts'
import { newFindSecrets } from '../../../src/client/redaction/find.ts'
import { redactSession } from '../../../src/client/redaction/session.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('secrets in recorded sessions')
const data = sharedData()
const find = newFindSecrets()

/** The recorded sessions hold no secrets: what is found in them is a mistake. */
test('at most one of 10,000 recorded messages without secrets is redacted', async () => {
  if (!data) return
  let messages = 0
  const wrong: string[] = []
  const files = await findSessionFiles(
    agents,
    globSync('{claude-code,agents}/**/*.{json,jsonl}', { cwd: data }).map((file) => join(data, file)),
    { env: {}, home: '/nowhere' },
    () => {}, // parts of sessions, which are read from other files
  )
  for (const { path, agent } of files)
    for await (const stored of agent.sessions(path)) {
      const session = await stored.read({ onMalformed: () => {} })
      for await (const _message of session.messages()) messages += 1
      const { redactions } = await redactSession(session, { find, isAllowed: () => false })
      wrong.push(...redactions.map(({ rule, externalId, where }) => `${path}: ${rule} in ${externalId} ${where}`))
    }
  process.stdout.write(`${wrong.length} wrong findings in ${messages} messages\n`)
  assert.ok(messages > 1_000)
  assert.ok(wrong.length <= messages / 10_000, wrong.join('\n'))
})

test.run()
