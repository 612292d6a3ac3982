import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import jsonc from 'jsonc-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  addJsonEntry,
  addTomlEntry,
  hasJsonEntry,
  hasTomlEntry,
  inAgent,
  jsonEdits,
  tomlEdits,
} from '../../../src/client/mcp/agents.ts'

const test = suite('the server in the settings of agents')
const entry = { command: '/usr/bin/node', args: ['a b/main.ts', 'mcp'], env: { TRACEBOOK_CONFIG_DIR: 'C:\\x "y"' } }

/** Settings as people have them: formatted in every way, with comments, with servers of their own. */
const json = fc
  .record({
    before: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    servers: fc.option(fc.dictionary(fc.constantFrom('one', 'two'), fc.constant({ url: 'http://x' })), {
      nil: undefined,
    }),
    indentation: fc.constantFrom('', '  ', '\t'),
    eol: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', '// "mcpServers": {\n', '/* mine */'),
    end: fc.constantFrom('', '\n'),
  })
  .map(({ before, servers, indentation, eol, comment, end }) => {
    const text = JSON.stringify({ ...before, ...(servers ? { mcpServers: servers } : {}) }, undefined, indentation)
    return (comment + text.replace('{', `{ ${comment}`) + end).replaceAll('\n', eol)
  })

test('adding the server to JSON does not change other settings, and removing it restores the file byte for byte', () => {
  fc.assert(
    fc.property(json, (text) => {
      const { text: added, pieces } = addJsonEntry(text, entry, 'Cursor')
      const value = jsonc.parse(added) as { mcpServers: Record<string, unknown> }
      assert.equal(value.mcpServers['tracebook'], entry)
      const { tracebook: _, ...others } = value.mcpServers
      const old = jsonc.parse(text) as { mcpServers?: object }
      assert.equal({ ...value, mcpServers: others }, { ...old, mcpServers: old.mcpServers ?? {} })
      assert.ok(jsonEdits.isIn(added) && hasJsonEntry(added, entry))
      assert.not.ok(hasJsonEntry(added, { ...entry, command: 'other' }))
      assert.is(jsonEdits.remove(added, pieces), text)
      const { mcpServers: __, ...rest } = old
      assert.equal(jsonc.parse(jsonEdits.remove(added, [])), Object.keys(others).length > 0 ? old : rest)
    }),
    { numRuns: 200 },
  )
})

const line = fc.constantFrom(
  'model = "o"',
  '# [mcp_servers.tracebook]',
  '[mcp_servers.other]',
  'command = "x"',
  '',
  '[[a]]',
  '  [b]',
)
const toml = fc
  .record({ lines: fc.array(line, { maxLength: 6 }), eol: fc.constantFrom('\n', '\r\n'), end: fc.boolean() })
  .map(({ lines, eol, end }) => lines.join(eol) + (end ? eol : ''))

test('the server is added at the end of TOML, and removing it keeps the other bytes, also those written after it', () => {
  fc.assert(
    fc.property(toml, toml, (text, later) => {
      const { text: added, pieces } = addTomlEntry(text, entry)
      assert.ok(added.startsWith(text) && tomlEdits.isIn(added) && hasTomlEntry(added, entry))
      assert.match(
        added,
        /^\[mcp_servers\.tracebook\]\r?\ncommand = "\/usr\/bin\/node"\r?\nargs = \["a b\/main\.ts", "mcp"\]/m,
      )
      assert.is(tomlEdits.remove(added, pieces), text)
      assert.is(tomlEdits.remove(`${added}[later]\n${later}`, pieces), `${text}[later]\n${later}`)
      assert.not.ok(tomlEdits.isIn(tomlEdits.remove(`${added}[later]\n${later}`, [])))
    }),
    { numRuns: 200 },
  )
})

test('the server is not added to settings that define it already, or whose structure is unexpected', () => {
  for (const text of [
    'mcp_servers = {}',
    '[mcp_servers."tracebook"]',
    "[mcp_servers.'tracebook']",
    'mcp_servers.tracebook.command = "x"',
    '[mcp_servers.tracebook.env]',
  ])
    assert.throws(() => addTomlEntry(text, entry), 'add the lines of --help by hand')
  for (const text of ['[]', '{"mcpServers": []}', 'nonsense'])
    assert.throws(() => addJsonEntry(text, entry, 'Cursor'), /expected/)
})

test('another server whose name has the same beginning is not changed', () => {
  const text = '[mcp_servers.tracebook-test]\ncommand = "x"\n'
  const { text: added, pieces } = addTomlEntry(text, entry)
  assert.ok(added.startsWith(text))
  assert.is(tomlEdits.remove(added, pieces), text)
})

test('a file that is not in UTF-8 is refused, and not changed', async () => {
  const home = await mkdtemp(join(tmpdir(), 'mcp-'))
  try {
    const file = join(home, 'config.toml')
    const bytes = Buffer.from([0x23, 0x20, 0xe9, 0x0a]) // a comment in Latin-1
    await writeFile(file, bytes)
    const agent = inAgent('codex', { CODEX_HOME: home }, home, join(home, 'state'))
    const error = await agent.install(entry).catch((reason: unknown) => reason)
    assert.match(String(error), /UTF-8/)
    assert.equal(await readFile(file), bytes)
  } finally {
    await rm(home, { recursive: true })
  }
})

test.run()
