import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { edited } from '../server/mcp/support.ts'
import { filesBelow } from '../client/support/files-below.ts'
import { until } from '../support/until.ts'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { type User, bareNeed, run } from './support/user.ts'
import { inWorld, namespaceOf } from './support/world.ts'

const test = suite('tracebook mcp')
const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** How an agent starts the server, as a user. */
const started = ({ variables }: User) => ({
  command: process.execPath,
  args: [main, 'mcp'],
  env: { ...bareNeed(), ...variables },
  stderr: 'pipe' as const,
})

type Answer = { readonly isError?: boolean; readonly structuredContent?: Record<string, unknown> }

/** What both clients are answered. */
const assertServed = async (call: (name: string, args: object) => Promise<Answer>, slug: string) => {
  const quotesOf = async (name: string, args: object) =>
    (await call(name, args)).structuredContent!['quotes'] as Record<string, Record<string, unknown>[]>
  assert.equal(
    (await quotesOf('list_sessions', {}))['sessions']!.map(({ session, namespace, subAgents }) => [
      session,
      namespace,
      subAgents,
    ]),
    [['s', slug, 1]],
  )
  await until(async () => (await quotesOf('search_sessions', { query: 'mend parser' }))['results']!.length === 1)
  const outline = (await call('get_session', { session: 's' })).structuredContent!
  assert.equal(outline['totals'], { prompts: 2, calls: 2, failed: 1, files: 1 })
  const { messages, author, quoted } = await quotesOf('read_messages', { session: 's', message: 'p2', limit: 1 })
  const [{ role, parts }] = messages as [{ role: string; parts: { text: string }[] }]
  assert.equal([parts[0]!.text, role, author, quoted], ['Try again', 'user', 'Ada', true] as unknown[])
  assert.is((await quotesOf('files_of', { session: 's', path: 'src/parse.ts' }))['edits']!.length, 1)
  assert.is((await call('get_session', { session: 'nowhere' })).isError, true)
}

test('serves a client of the newest revision and one of the revision before, through the API', () =>
  inWorld(async ({ url, user, putTrace }) => {
    await putTrace(user, 's', { title: 'Parser' })
    await putTrace(user, 'helper', { title: 'Helper', parentExternalId: 's' })
    const token = tokenIn(user.config)
    await ask(url, '/v1/user', { token, method: 'PATCH', body: { displayName: 'Ada' } })
    const messages = edited.map((one, order) => ({ ...one, order }))
    await ask(url, '/v1/traces/s/messages/batch', { token, method: 'POST', body: { messages } })
    const slug = await namespaceOf(url, user)

    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StdioClientTransport(started(user)))
    assert.is(client.getNegotiatedProtocolVersion(), '2026-07-28')
    assert.is((await client.listTools()).tools.length, 6)
    await assertServed((name, args) => client.callTool({ name, arguments: { ...args } }) as Promise<Answer>, slug)
    await client.close()

    const older = new OlderClient({ name: 'test', version: '1' })
    await older.connect(new OlderTransport(started(user)))
    assert.is((await older.listTools()).tools.length, 6)
    await assertServed((name, args) => older.callTool({ name, arguments: { ...args } }) as Promise<Answer>, slug)
    const { isError } = (await older.callTool({ name: 'list_sessions', arguments: null as never })) as Answer
    assert.not.ok(isError, 'null stands for no arguments')
    await older.close()
  }))

test('its help has the lines for each agent', async () => {
  const { out } = await run(['mcp', '--help'], {})
  for (const line of [
    'claude mcp add --scope user tracebook -- tracebook mcp',
    '[mcp_servers.tracebook]',
    '"mcpServers": { "tracebook": { "command": "tracebook", "args": ["mcp"] } }',
    '"mcp": { "tracebook": { "type": "local", "command": ["tracebook", "mcp"] } }',
  ])
    assert.ok(out.includes(line), line)
})

test('without a login it ends with 2, and says how to log in', () =>
  inWorld(async ({ newMachine }) => {
    const { how, out, err } = await newMachine('other').run('mcp')
    assert.equal([how, out], [2, ''])
    assert.match(err, 'tracebook login --server')
  }))

/** Where each agent has its settings below the home folder, and texts that may be there. */
const settings = {
  'claude-code': [
    'claude/.claude.json',
    [
      '{}',
      '{\n  "numStartups": 3,\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
      '{\r\n\t"mcpServers": {}\r\n}',
    ],
  ],
  codex: [
    '.codex/config.toml',
    ['', 'model = "o"', '# mine\r\n[mcp_servers.other]\r\ncommand = "x"\r\n\r\n', '[profiles.a]\nmodel = "b"\n'],
  ],
  cursor: [
    '.cursor/mcp.json',
    ['{ "mcpServers": { "other": { "url": "http://x" } } }', '{\n // mine\n "a": [1,],\n}\n'],
  ],
  'gemini-cli': ['.gemini/settings.json', ['{\n  // mine\n  "security": { "auth": {} }\n}\n', '{}']],
  opencode: [
    '.config/opencode/opencode.json',
    ['{\n  "$schema": "https://opencode.ai/config.json", // mine\n  "mcp": { "other": { "type": "remote" } },\n}\n'],
  ],
  'qwen-code': ['.qwen/settings.json', ['{ "$version": 4, /* mine */ "mcpServers": { "other": {} } }\n']],
} as const

const inHome = (work: (user: User, home: string) => Promise<unknown>) =>
  inWorld(({ folder, user }) => work(user, join(folder, 'ada')))

test('the server is written into the settings of agents, and taken out byte for byte', () =>
  inHome(async (user, home) => {
    for (const [name] of Object.values(settings)) mkdirSync(dirname(join(home, name)), { recursive: true })
    const before = filesBelow(home)
    for (const [agent, [name, texts]] of Object.entries(settings)) {
      const file = join(home, name)
      for (const text of texts) {
        writeFileSync(file, text)
        const { documents } = await runJson(user, 'mcp', 'install', agent)
        assert.equal(documents, [{ type: 'mcp', agent, installed: true, file }])
        const written = readFileSync(file, 'utf8')
        for (const part of ['"mcp", "--server"', 'tracebook', 'TRACEBOOK_CONFIG_DIR'].slice(agent === 'codex' ? 0 : 1))
          assert.ok(written.includes(part), `${part} in ${written}`)
        for (const comment of ['// mine', '/* mine */', '# mine'])
          assert.is(written.includes(comment), text.includes(comment))
        if (!text.includes('mine') && agent !== 'codex') {
          const { mcpServers } = JSON.parse(written) as { mcpServers: Record<string, { args: string[] }> }
          assert.equal(mcpServers['tracebook']!.args.slice(-3, -1), ['mcp', '--server'])
          assert.is('other' in mcpServers, text.includes('other'))
        }
        assert.match((await user.run('mcp', 'install', agent)).out, 'installed already')
        assert.is((await user.run('mcp', 'install', '--remove')).out, `${agent}: removed (${file})\n`)
        assert.is(readFileSync(file, 'utf8'), text)
      }
      rmSync(file)
      assert.match((await user.run('mcp', 'install', agent)).out, `${agent}: installed (${file})`)
      assert.is((await user.run('mcp', 'install', agent, '--remove')).out, `${agent}: removed (${file})\n`)
      assert.not.ok(existsSync(file), 'a file that it has made is gone')
    }
    assert.equal(
      filesBelow(home).filter((path) => !before.includes(path)),
      [join('config', 'data')],
      'an empty folder',
    )
    assert.is((await user.run('mcp', 'install', '--remove')).out, 'Nothing to remove.\n')
  }))

test('settings that were changed meanwhile stay, and a server of this name that others have added is not changed', () =>
  inHome(async (user, home) => {
    const [claude, codex] = [join(home, 'claude', '.claude.json'), join(home, '.codex', 'config.toml')]
    for (const file of [claude, codex]) mkdirSync(dirname(file), { recursive: true })
    writeFileSync(claude, '{\n  "a": 1\n}\n')
    writeFileSync(codex, 'a = 1\n')
    await user.run('mcp', 'install')
    // As Claude Code writes the whole file again.
    writeFileSync(claude, JSON.stringify({ ...(JSON.parse(readFileSync(claude, 'utf8')) as object), b: 2 }))
    writeFileSync(codex, `${readFileSync(codex, 'utf8')}[tables.mine]\nc = 3\n`)
    await user.run('mcp', 'install', '--remove')
    assert.equal(JSON.parse(readFileSync(claude, 'utf8')), { a: 1, b: 2 })
    assert.is(readFileSync(codex, 'utf8'), 'a = 1\n[tables.mine]\nc = 3\n')
    for (const [agent, file, text] of [
      ['claude-code', claude, '{"mcpServers":{"tracebook":{"url":"http://mine"}}}'],
      ['codex', codex, '[mcp_servers.tracebook]\nurl = "http://mine"\n'],
      ['codex', codex, 'mcp_servers = { other = { command = "x" } }\n'],
    ] as const) {
      writeFileSync(file, text)
      const { how, err } = await user.run('mcp', 'install', agent)
      assert.is(how, 1)
      assert.match(err, file)
      await user.run('mcp', 'install', agent, '--remove')
      assert.is(readFileSync(file, 'utf8'), text)
    }
  }))

test('settings that cannot be read are left as they are and named, and those of other agents are edited', () =>
  inHome(async (user, home) => {
    const [gemini, qwen] = ['.gemini', '.qwen'].map((name) => join(home, name, 'settings.json')) as [string, string]
    for (const file of [gemini, qwen]) mkdirSync(dirname(file), { recursive: true })
    writeFileSync(gemini, '{ "a": nonsense')
    const { how, out, err } = await user.run('mcp', 'install')
    assert.equal([how, out], [1, `qwen-code: installed (${qwen})\n`])
    assert.match(err, `gemini-cli: left as it is: ${gemini}: expected a JSON object`)
    assert.is(readFileSync(gemini, 'utf8'), '{ "a": nonsense')
    const written = readFileSync(qwen, 'utf8')
    writeFileSync(qwen, `${written}nonsense`)
    for (const options of [[], ['--remove']]) {
      const again = await runJson(user, 'mcp', 'install', 'qwen-code', ...options)
      const why = `${qwen}: expected a JSON object with settings of Qwen Code, got something else: correct the file first`
      assert.equal(again.documents, [{ type: 'mcp', agent: 'qwen-code', installed: false, file: qwen, why }])
      assert.is(again.how, 1)
      assert.is(readFileSync(qwen, 'utf8'), `${written}nonsense`)
    }
    writeFileSync(qwen, written)
    assert.is((await user.run('mcp', 'install', '--remove')).out, `qwen-code: removed (${qwen})\n`)
    assert.not.ok(existsSync(qwen), 'what was added is still known, and that the file was made for it')
  }))

test.run()
