import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { configuredProvider } from '../../../src/client/resume/codex-provider.ts'

const test = suite('the provider that Codex is set up for')

const folder = mkdtempSync(join(tmpdir(), 'codex-provider-'))
test.after(() => rmSync(folder, { recursive: true }))

for (const [what, lines, provider] of [
  ['none', ['model = "m"'], 'openai'],
  ['one', ['model_provider = "mine" # ours'], 'mine'],
  ['one in single quotes', ["  model_provider='mine'"], 'mine'],
  ['one in another table', ['model = "m"', '[model_providers.mine]', 'model_provider = "not"'], 'openai'],
  ['one of the profile', ['model_provider = "top"', 'profile = "p"', '[profiles.p]', 'model_provider = "its"'], 'its'],
  ['one of a profile that is not used', ['model_provider = "top"', '[profiles.p]', 'model_provider = "its"'], 'top'],
  ['a profile without one', ['profile = "p"', 'model_provider = "top"', '[profiles."p"]', 'model = "m"'], 'top'],
] as const)
  test(`${what}: ${provider}`, async () => {
    const path = join(folder, 'config.toml')
    writeFileSync(path, `${lines.join('\n')}\n`)
    assert.is(await configuredProvider(path), provider)
  })

test('no file: openai', async () => assert.is(await configuredProvider(join(folder, 'none.toml')), 'openai'))

test.run()
