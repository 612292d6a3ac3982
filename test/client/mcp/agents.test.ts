import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import jsonc from 'jsonc-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  addTomlEntry,
  commonForm,
  hasTomlEntry,
  inAgent,
  jsonKind,
  opencodeForm,
  tomlEdits,
} from '../../../src/client/mcp/agents.ts'

const test = suite('the server in the settings of agents')
const entry = { command: '/usr/bin/node', args: ['a b/main.ts', 'mcp'], env: { TRACEBOOK_CONFIG_DIR: 'C:\\x "y"' } }

/** Settings as people have them: formatted in every way, with comments, with servers of their own. */
const jsonWith = (member: string) =>
  fc
    .record({
      before: fc.dictionary(fc.stringMatching(/^[a-z]{5,8}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      servers: fc.option(fc.dictionary(fc.constantFrom('one', 'two'), fc.constant({ url: 'http://x' })), {
        nil: undefined,
      }),
      indentation: fc.constantFrom('', '  ', '\t'),
      eol: fc.constantFrom('\n', '\r\n'),
      comment: fc.constantFrom('', `// "${member}": {\n`, '/* mine */'),
      end: fc.constantFrom('', '\n'),
    })
    .map(({ before, servers, indentation, eol, comment, end }) => {
      const text = JSON.stringify({ ...before, ...(servers ? { [member]: servers } : {}) }, undefined, indentation)
      return (comment + text.replace('{', `{ ${comment}`) + end).replaceAll('\n', eol)
    })

/** The entry as each form has it. */
const { command, args, env } = entry
const forms = [
  [commonForm, entry],
  [opencodeForm, { type: 'local', command: [command, ...args], environment: env }],
] as const

for (const [form, written] of forms) {
  const { edits, has, add } = jsonKind('Some Agent', form)
  const { servers: member } = form
  type Settings = { readonly [member]?: Readonly<Record<string, unknown>> }

  test(`adding the server to ${member} of JSON does not change other settings, and removing it restores the file byte for byte`, () => {
    fc.assert(
      fc.property(jsonWith(member), (text) => {
        const { text: added, pieces } = add(text, entry)
        const value = jsonc.parse(added) as Settings
        const { tracebook, ...others } = value[member]!
        assert.equal(tracebook, written)
        const old = jsonc.parse(text) as Settings
        assert.equal({ ...value, [member]: others }, { ...old, [member]: old[member] ?? {} })
        assert.ok(edits.isIn(added) && has(added, entry))
        assert.not.ok(has(added, { ...entry, command: 'other' }))
        assert.is(edits.remove(added, pieces), text)
        const { [member]: _, ...rest } = old
        assert.equal(jsonc.parse(edits.remove(added, [])), Object.keys(others).length > 0 ? old : rest)
      }),
      { numRuns: 200 },
    )
  })

  test(`the server is not added to settings whose ${member} is something else`, () => {
    for (const text of ['[]', `{"${member}": []}`, 'nonsense', '']) assert.throws(() => add(text, entry), /expected/)
  })
}

test('opencode has its settings in the file that it writes to', async () => {
  const home = await mkdtemp(join(tmpdir(), 'mcp-'))
  try {
    const folder = join(home, '.config', 'opencode')
    const fileNow = () => inAgent('opencode', {}, home, join(home, 'state')).file
    await mkdir(folder, { recursive: true })
    assert.is(fileNow(), join(folder, 'opencode.json'), 'it makes this one')
    await writeFile(join(folder, 'opencode.jsonc'), '{}')
    assert.is(fileNow(), join(folder, 'opencode.jsonc'))
    await writeFile(join(folder, 'opencode.json'), '{}')
    assert.is(fileNow(), join(folder, 'opencode.json'))
  } finally {
    await rm(home, { recursive: true })
  }
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
