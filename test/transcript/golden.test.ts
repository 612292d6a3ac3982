import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { render, session } from './support/session.ts'

const test = suite('transcript: whole files')
const folder = join(import.meta.dirname, '../fixtures/transcript')

// With UPDATE_GOLDEN=1 they are written anew: look at the difference before a commit.
for (const format of ['md', 'html'] as const) {
  test(`a session as ${format} is the file in test/fixtures/transcript`, () => {
    const trace = {
      title: 'Mend the login page',
      visibility: 'private',
      projectName: 'shop',
      gitBranch: 'main',
      messageCount: 6,
      startedAt: Date.UTC(2026, 0, 2, 15, 4, 5),
      endedAt: Date.UTC(2026, 0, 2, 17, 9, 5),
    }
    const whole = render(
      format,
      session((place) => `the **${place}** <b>\n`),
      trace,
    )
    // Style and drawings have no place here: they change for their own reasons.
    const shown = whole.replace(/<style>[\s\S]*<\/style>|<svg class="sprite"[\s\S]*?<\/svg>/g, '')
    const file = join(folder, `session.${format}`)
    if (process.env['UPDATE_GOLDEN']) writeFileSync(file, shown)
    assert.is(shown, readFileSync(file, 'utf8'))
  })
}

test.run()
