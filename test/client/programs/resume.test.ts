import { execFile } from 'node:child_process'
import { mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ask as request, tokenIn } from '../../commands/support/api.ts'
import { bareNeed, type User } from '../../commands/support/user.ts'
import { inOwnWorld, type World } from '../../commands/support/world.ts'
import { NO_RESULT } from '../../../src/client/agents/support/conversation.ts'
import { ask, install, programs, writeFiles } from './programs.ts'
import { type Provider, startProvider } from './provider.ts'

/** The newest Codex goes on with sessions that `tracebook resume` has written: what its provider is then told is the whole conversation. */

const execute = promisify(execFile)
const test = suite('Codex goes on with a session that was written anew')

const codex = programs.find(({ agent }) => agent === 'codex')!
const installed = await install(codex).catch((error: Error) => error)

const TEAM = 'the-team'

type Item = { readonly [name: string]: any } // eslint-disable-line @typescript-eslint/no-explicit-any

/** What the provider was told last of the conversation, without what the program adds by itself. */
const told = ({ asked }: Provider): readonly (readonly string[])[] =>
  (asked.at(-1)!['input'] as Item[]).flatMap((item): readonly (readonly string[])[] => {
    const texts = (Array.isArray(item['content']) ? (item['content'] as Item[]) : []).map((block) =>
      String(block['text']),
    )
    if (
      item['role'] === 'user' &&
      texts.some((text) => /^<(?:environment_context|user_instructions)>|^# AGENTS/.test(text))
    )
      return []
    if (item['role'] === 'user' || item['role'] === 'assistant') return [[item['role'], texts.join('\n')]]
    if (item['type'] === 'function_call') return [['call', item['name'], item['arguments']]]
    if (item['type'] === 'custom_tool_call') return [['call', item['name'], JSON.stringify({ input: item['input'] })]]
    return /_output$/.test(item['type'])
      ? [['result', typeof item['output'] === 'string' ? item['output'] : item['output'][0].text]]
      : []
  })

type Stored = { readonly role: string; readonly parts: readonly { readonly type: string; readonly content: Item }[] }

/** The same of a session in the service. */
const stored = async (url: string, user: User, id: string): Promise<readonly (readonly string[])[]> => {
  const at = `/v1/traces/${id}/messages?includeParts=true&namespace=${TEAM}`
  const { messages } = await request<{ messages: readonly Stored[] }>(url, at, { token: tokenIn(user.config) })
  return messages.flatMap(({ role, parts }) =>
    parts.flatMap(({ type, content }): readonly (readonly string[])[] => {
      if (type === 'text') return [[role, content['text']]]
      if (type === 'tool_call') return [['call', content['toolName'], JSON.stringify(content['args'])]]
      return type === 'tool_result' ? [['result', content['output']]] : []
    }),
  )
}

const homeOf = ({ config }: User): string => dirname(config)

/** A folder to work in, and the settings by which Codex asks the provider. */
const newDesk = (user: User, provider: Provider): string => {
  const project = join(homeOf(user), 'project')
  mkdirSync(project, { recursive: true })
  writeFiles(homeOf(user), codex.files(provider.url))
  return realpathSync(project)
}

const asCodex = (user: User, provider: Provider, prompt: string, goesOn: boolean | string) => {
  if (installed instanceof Error) throw installed
  return ask(codex, installed, {
    ...{ home: homeOf(user), project: join(homeOf(user), 'project'), provider: provider.url, prompt, goesOn },
  })
}

/** Two people in one team. */
const inTeam = (work: (world: World & { readonly bob: User; readonly provider: Provider }) => Promise<unknown>) =>
  inOwnWorld(async (world) => {
    const { url, user, newUser } = world
    const bob = await newUser('bob')
    const provider = await startProvider(join(homeOf(user), 'project'))
    try {
      assert.is((await user.run('namespaces', 'create', TEAM)).how, 0)
      const { invite } = await request<{ invite: { code: string } }>(url, `/v1/namespaces/${TEAM}/invites`, {
        ...{ token: tokenIn(user.config), method: 'POST', body: { role: 'member' } },
      })
      await request(url, `/v1/invites/${invite.code}/accept`, { token: tokenIn(bob.config), method: 'POST', body: {} })
      await work({ ...world, bob, provider })
    } finally {
      await provider.close()
    }
  })

/** The line that the page of a session shows. */
const shownLine = async (url: string, user: User, id: string): Promise<string> => {
  const response = await fetch(`${url}/@${TEAM}/${id}`, {
    headers: { authorization: `Bearer ${tokenIn(user.config)}` },
  })
  const [, line = ''] = /id="continue"[^]*?<code>(.*?)<\/code>/.exec(await response.text()) ?? []
  return line.replaceAll('&amp;', '&').replaceAll(/<wbr>/g, '')
}

const together = () =>
  inTeam(async ({ url, user, bob, provider }) => {
    newDesk(user, provider)
    const there = newDesk(bob, provider)
    await asCodex(user, provider, 'Write some notes. [[tools]]', false)
    await asCodex(user, provider, 'Run what fails. [[fail]]', true)
    assert.is((await user.run('sync', '--namespace', TEAM)).how, 0)
    const { traces } = await request<{ traces: readonly { externalId: string }[] }>(
      url,
      `/v1/namespaces/${TEAM}/traces`,
      {
        token: tokenIn(user.config),
      },
    )
    const id = traces[0]!.externalId
    const line = await shownLine(url, bob, id)
    assert.match(line, /^npx --yes http:\/\/127\.0\.0\.1:\d+\/client\/tracebook-[\d.]+\.tgz resume http/)
    const env = { ...bareNeed(), ...bob.variables, HOME: homeOf(bob) }
    const { stdout } = await execute('sh', ['-c', line], { cwd: there, env, timeout: 300_000 })
    const [, resumed = ''] = new RegExp(`^cd ${there} && codex resume ([0-9a-f-]{36})\n$`).exec(stdout) ?? []
    assert.is.not(resumed, '', stdout)
    await asCodex(bob, provider, 'And now? [[plain]]', resumed)
    assert.equal(told(provider), [...(await stored(url, bob, id)), ['user', 'And now? [[plain]]']])
    assert.is((await bob.run('sync', '--namespace', TEAM)).how, 0)
    const at = `/v1/traces/${resumed}?namespace=${TEAM}`
    const { trace } = await request<{ trace: Item }>(url, at, { token: tokenIn(bob.config) })
    assert.equal([trace['parentExternalId'], trace['parentKind']], [id, 'resume'])
  })

const ID = '5e550000-0000-4000-8000-000000000009'

const across = () =>
  inTeam(async ({ url, user, provider }) => {
    const dir = newDesk(user, provider)
    const token = tokenIn(user.config)
    await request(url, `/v1/traces/${ID}?namespace=${TEAM}`, { token, method: 'PUT', body: { agentId: 'claude-code' } })
    const text = (words: string) => ({ type: 'text', content: { text: words } })
    const call = (callId: string) => ({
      type: 'tool_call',
      content: { callId, toolName: 'Bash', args: { command: 'ls' } },
    })
    const result = {
      type: 'tool_result',
      content: { callId: 'toolu_1', toolName: 'Bash', output: '{"output":"a.ts"}', status: 'error' },
    }
    const messages = [
      { externalId: 'u1', role: 'user', parts: [text('Mend it, 漢字 🎉')] },
      { externalId: 'msg_1', role: 'assistant', model: 'opus', parts: [text('I look.'), call('toolu_1')] },
      { externalId: 'u2', role: 'user', parts: [result] },
      { externalId: 's1', role: 'system', parts: [text('! ls')] },
      { externalId: 'msg_2', role: 'assistant', model: 'opus', parts: [text('Once more.'), call('toolu_2')] },
      { externalId: 'u3', role: 'user', parts: [text('stop')] },
    ].map((message, order) => ({ ...message, order }))
    const at = `/v1/traces/${ID}/messages/batch?namespace=${TEAM}`
    await request(url, at, { token, method: 'POST', body: { messages } })
    const { out } = await user.run('resume', ID, '--namespace', TEAM, '--in', 'codex', '--dir', dir, '--json')
    const { id } = JSON.parse(out) as { id: string }
    await asCodex(user, provider, 'Go on. [[plain]]', id)
    const all = await stored(url, user, ID)
    const wanted = all.flatMap((one) => {
      if (one[0] === 'system') return []
      return one[1] === 'stop' ? [['result', NO_RESULT], one] : [one]
    })
    assert.equal(told(provider), [...wanted, ['user', 'Go on. [[plain]]']])
  })

if (installed instanceof Error) test.skip(`Codex could not be installed: ${installed.message.slice(0, 200)}`)
else {
  test(
    `${installed.version}: a colleague types the line that the page shows, and goes on with the whole conversation`,
    together,
  )
  test(`${installed.version}: a session of Claude Code goes on with calls, failures and what was put in`, across)
}

test.run()
