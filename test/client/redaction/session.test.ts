import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Part, Session, SessionMessage, SessionFields } from '../../../src/client/agents/agent.ts'
import { newFindSecrets } from '../../../src/client/redaction/find.ts'
import { hashOf, redactSession } from '../../../src/client/redaction/session.ts'
import { fill, forms, newRandom } from './corpus.ts'

const test = suite('redacting a session')
const find = newFindSecrets()
const [github, other] = [7, 8].map((seed) => fill(newRandom(seed), forms['github token']!)) as [string, string]

const text = (value: string): Part => ({ type: 'text', content: { text: value } })
const call = (callId: string, args: Record<string, unknown>): Part => ({
  type: 'tool_call',
  content: { callId, toolName: 'Bash', args },
})
const result = (callId: string, output: string): Part => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output, status: 'success' },
})

const sessionOf = (parts: readonly Part[], trace: Partial<SessionFields> = {}): Session => ({
  externalId: 's-1',
  trace: { agentId: 'claude-code', ...trace },
  skippedLines: 0,
  messages: async function* () {
    for (const [order, part] of parts.entries())
      yield { externalId: `m-${order}`, role: 'user', order, parts: [part] } satisfies SessionMessage
  },
})

const redact = async (parts: readonly Part[], trace: Partial<SessionFields> = {}, allowed: readonly string[] = []) => {
  const given = sessionOf(parts, trace)
  const { session, redactions } = await redactSession(given, { find, isAllowed: (hash) => allowed.includes(hash) })
  const messages = await Array.fromAsync(session.messages())
  return { given, session, redactions, parts: messages.map(({ parts: [part] }) => part!) }
}

for (const [when, before, isKept] of [
  ['none was found before', 'nothing yet', false],
  ['another was found before', `use ${other}`, false],
  ['the session said that it would be the same', 'nothing yet', true],
] as const)
  test(`a secret that is written while the session is read is redacted: ${when}`, async () => {
    let readings = 0
    const given = sessionOf([])
    const messages = () =>
      sessionOf(++readings === 1 ? [text(before)] : [text(`use ${github}`), text(github)]).messages()
    const redacted = await redactSession({ ...given, isKept, messages }, { find, isAllowed: () => false })
    const sent = await Array.fromAsync(redacted.session.messages())
    assert.equal(
      sent.map(({ parts: [part] }) => part),
      [text('use [redacted:github]'), text('[redacted:github]')],
    )
    assert.ok(redacted.hasNew())
  })

test('a secret is redacted in every field of a message and of a trace', async () => {
  const { parts, session, redactions } = await redact(
    [
      text(`use ${github}`),
      { type: 'thinking', content: { text: `so ${github}`, durationMs: 5 } },
      call('c1', { command: `curl -H ${github}`, list: [1, { [github]: github }], n: 1.5, no: null }),
      result('c1', `${github}\n`),
      { type: 'error', content: { message: `denied: ${github}` } },
    ],
    { title: `Fix ${github}`, projectPath: `/w/${github}/app` },
  )
  assert.not.match(JSON.stringify([parts, session.trace]), new RegExp(github))
  assert.equal(
    parts[2],
    call('c1', {
      command: 'curl -H [redacted:github]',
      list: [1, { '[redacted:github]': '[redacted:github]' }],
      n: 1.5,
      no: null,
    }),
  )
  assert.equal(parts[1], { type: 'thinking', content: { text: 'so [redacted:github]', durationMs: 5 } })
  assert.equal(session.trace, {
    agentId: 'claude-code',
    title: 'Fix [redacted:github]',
    projectPath: '/w/[redacted:github]/app',
  })
  assert.equal(
    redactions.map(({ externalId, where }) => `${externalId ?? 'trace'} ${where}`),
    [
      'trace title',
      'trace projectPath',
      'm-0 parts/0/text',
      'm-1 parts/0/text',
      'm-2 parts/0/args/command',
      'm-2 parts/0/args/list/1/key',
      'm-2 parts/0/args/list/1/[redacted:github]',
      'm-3 parts/0/output',
      'm-4 parts/0/message',
    ],
  )
})

test('the report of a redaction has the hash by which the secret can be allowed, not the secret', async () => {
  const parts = [text(`use ${github} or ${other}`)]
  const { redactions } = await redact(parts)
  assert.not.match(JSON.stringify(redactions), /ghp_/)
  assert.equal(
    redactions.map(({ hash }) => hash),
    [hashOf(github), hashOf(other)],
  )
  const { parts: left } = await redact(parts, {}, [hashOf(github)])
  assert.equal(left, [text(`use ${github} or [redacted:github]`)])
})

test('a value that one message reveals as a secret is redacted in earlier and later messages too', async () => {
  const value = 'Zx81kQ0pLm7Rt5Vw'
  const { parts } = await redact([text(`try ${value}`), text(`DB_PASSWORD=${value}`), text(`it was ${value}!`)])
  assert.equal(parts, [
    text('try [redacted:secret-value]'),
    text('DB_PASSWORD=[redacted:secret-value]'),
    text('it was [redacted:secret-value]!'),
  ])
})

test('what programs print in colours is redacted as without them, and stays readable', async () => {
  const outputs = [
    'DB_\u001b[01;31m\u001b[KPASSWORD\u001b[m\u001b[K=Wq8zLp31Xv5Nt7Rk2Jd9\nok', // env | grep --color
    '\u001b[34;1m"password"\u001b[0m\u001b[1;39m: \u001b[0m\u001b[0;32m"Wq8zLp32Xv5Nt7Rk2Jd9"\u001b[0m', // jq -C
    '\u001b[38;5;203mdb_password\u001b[0m\u001b[38;5;231m: \u001b[0m\u001b[38;5;186mWq8zLp33Xv5Nt7Rk2Jd9\u001b[0m', // bat
    '\u001b[36mX-Api-Key\u001b[39;49;00m: \u001b[33mWq8zLp34Xv5Nt7Rk2Jd9\u001b[39;49;00m', // httpie
    '\u001b[32mDB_PASSWORD\u001b[0m\u001b[90m=\u001b[0m\u001b[33mWq8zLp35Xv5Nt7Rk2Jd9\u001b[0m',
    'TOKEN=\u001b[1;31mghp_\u001b[mQ1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J7k8\nok', // git grep --color
    'DB_PASSWORD=\u001b[33mWq8zLp36Xv5Nt7Rk2Jd9\u001b[0m',
    '\u001b[32m+DB_PASSWORD=Wq8zLp37Xv5Nt7Rk2Jd9\u001b[m', // git diff --color
  ]
  const { parts } = await redact(outputs.map(text))
  const value = /(?:ghp_\u001b\[m)?[QW][1q][8w][2z]\w+/
  assert.equal(
    parts,
    outputs.map((output) => text(output.replace(value, '[redacted:secret-value]'))),
  )
})

test('the same value is one secret in whatever form it is written', async () => {
  const value = 'Zx81kQ0pLm7Rt5Vw'
  const forms = [
    `it was \u001b[33m${value.slice(0, 5)}\u001b[1m${value.slice(5)}\u001b[0m!`,
    `it was ${value.slice(0, 5)}\u200b${value.slice(5)}!`,
    `it was &#90;${value.slice(1)}!`,
    `it was ${value}!`,
  ]
  const found = `DB_\u001b[31mPASSWORD\u001b[0m=\u001b[33m${value}\u001b[0m`
  const { parts, redactions } = await redact([...forms, found].map(text))
  assert.equal(
    parts.map((part) => JSON.stringify(part.content).replaceAll(/\\u001b\[\d*m/g, '')),
    [
      ...forms.map(() => '{"text":"it was [redacted:secret-value]!"}'),
      '{"text":"DB_PASSWORD=[redacted:secret-value]"}',
    ],
  )
  assert.equal(
    redactions.map(({ hash }) => hash),
    [hashOf(value)],
  )
  const { parts: left } = await redact([...forms, found].map(text), {}, [hashOf(value)])
  assert.equal(left, [...forms, found].map(text))
})

test('a short secret that could be a word is redacted only where it was found', async () => {
  const { parts } = await redact([text('postgres://app:sesame9@db.internal/app'), text('open sesame9 now')])
  assert.equal(parts, [text('postgres://app:[redacted:url-password]@db.internal/app'), text('open sesame9 now')])
})

test('a short secret that is not a word is redacted everywhere', async () => {
  const { parts } = await redact([text('password: k3jx9q2m'), text('it was k3jx9q2m!')])
  assert.equal(parts, [text('password: [redacted:secret-value]'), text('it was [redacted:secret-value]!')])
})

test('a value whose name in the arguments of a call reveals a secret is redacted', async () => {
  const args = (secret: string) => ({
    env: { DB_PASSWORD: secret, REGION: 'eu-west-1' },
    variables: [
      { name: 'API_TOKEN', value: secret },
      { key: 'REGION', value: 'eu-west-1' },
    ],
  })
  const { parts } = await redact([call('c1', args('Zx81kQ0p'))])
  assert.equal(parts, [call('c1', args('[redacted:secret-value]'))])
})

test('a later reading redacts secrets found by an earlier one, and results of calls that were read before', async () => {
  const value = 'Zx81kQ0pLm7Rt5Vw'
  const first = sessionOf([text(`DB_PASSWORD=${value}`), call('c1', { file_path: '/w/.env' })])
  const before = await redactSession(first, { find, isAllowed: () => false })
  const added = sessionOf([text(`again ${value}`), result('c1', 'LOGIN_NAME=ada-lovelace')])
  const { session, hasNew } = await redactSession(added, { find, isAllowed: () => false }, before.known)
  const messages = await Array.fromAsync(session.messages())
  assert.equal(
    messages.map(({ parts: [part] }) => part),
    [text('again [redacted:secret-value]'), result('c1', 'LOGIN_NAME=[redacted:env-value]')],
  )
  assert.is(
    (await redactSession(sessionOf([text(`again ${value}`)]), { find, isAllowed: () => false }, before.known)).hasNew(),
    false,
  )
  assert.is(hasNew(), true)
})

test('the values of an environment file are redacted where a call reads or writes it', async () => {
  const { parts } = await redact([
    call('c1', { command: 'cat ./app/.env.local | head' }),
    result('c1', 'LOGIN_NAME=ada-lovelace\nPORT=3000'),
    call('c2', { file_path: '/w/.env', content: 'LOGIN_NAME=grace-hopper' }),
    call('c3', { command: 'cat .env.example' }),
    result('c3', 'LOGIN_NAME=somebody-else'),
  ])
  assert.equal(parts[1], result('c1', 'LOGIN_NAME=[redacted:env-value]\nPORT=3000'))
  assert.equal(parts[2], call('c2', { file_path: '/w/.env', content: 'LOGIN_NAME=[redacted:env-value]' }))
  assert.equal(parts[4], result('c3', 'LOGIN_NAME=somebody-else'))
})

for (const args of [
  { command: 'git add .env && git commit -m "Add .env"' },
  { command: 'echo ".env" >> .gitignore' },
  { command: 'grep -rn ".env" src' },
  { command: 'ls -la .env; cp .env.example .env' },
  { command: 'docker run --env-file .env acme/app' },
  { prompt: 'Look at .env, but never run "cat .env"' },
  { file_path: '/w/README.md', content: 'Run `cat .env` to see them.' },
  { pattern: '**/.env' },
  { command: 'echo .env >> .gitignore' },
  { command: 'git add .env' },
  { command: 'git -C /w commit -m "Ignore .env"' },
  { command: 'ls -la .env' },
  { command: 'sudo ls -la .env' },
  { command: "ssh host 'ls -la /srv/app/.env'" },
  { command: 'docker exec web ls .env' },
  { command: 'find . -name .env -delete' },
  { command: 'set -a; source .env; set +a; npm start' },
  { command: 'for f in .env; do chmod 600 $f; done' },
  { command: 'python3 manage.py --env .env' },
  { prompt: 'create a .env file' },
  { edits: [{ path: '/x/a.ts', newText: 'cat .env' }] },
])
  test(`the result of a call that only mentions an environment file is not redacted: ${JSON.stringify(args)}`, async () => {
    const shown = result('c1', 'LOGIN_NAME=ada-lovelace')
    assert.equal((await redact([call('c1', args), shown])).parts, [call('c1', args), shown])
  })

for (const args of [
  { command: 'cd app && sudo cat .env' },
  { command: 'grep LOGIN ./app/.env.production | sort' },
  { command: ['bash', '-lc', 'head -5 .env'] },
  { command: ['cat', '.env'] },
  { command: 'cat > .env <<EOF\nA=b\nEOF' },
  { input: '*** Begin Patch\n*** Add File: app/.env\n+A=b\n*** End Patch' },
  { path: 'C:\\app\\.env' },
  { command: "ssh host 'cat /srv/app/.env'" },
  { command: "ssh host 'cd /srv && cat .env'" },
  { command: 'docker exec web cat .env' },
  { command: 'docker compose exec -T web grep LOGIN .env' },
  { command: 'kubectl exec p -- cat /app/.env' },
  { command: 'bash -c "cat .env"' },
  { command: 'sudo -u www cat .env' },
  { command: 'git diff .env' },
  { command: 'git show HEAD:.env' },
  { command: 'set -a; source .env; env' },
  { command: '. ./.env && printenv' },
  { command: 'find . -name .env -exec cat {} +' },
  { command: 'find . -name ".env" | xargs cat' },
  { command: 'for f in .env; do cat $f; done' },
  { command: 'for f in a/.env b/.env; do\n  cat "${f}"\ndone' },
  { command: 'if [ -f .env ]; then cat .env; fi' },
  { command: 'powershell Get-Content .env' },
  { command: `python3 -c 'print(open(".env").read())'` },
  { command: `node -e "console.log(fs.readFileSync('.env', 'utf8'))"` },
  { command: 'cat .env*' },
  { command: ['ssh', 'host', 'cat /srv/.env'] },
  { edits: [{ path: '/x/.env' }] },
  { files: [{ path: '.env' }] },
])
  test(`the result of a call that reads or writes an environment file is redacted: ${JSON.stringify(args)}`, async () => {
    const { parts } = await redact([call('c1', args), result('c1', 'LOGIN_NAME=ada-lovelace')])
    assert.equal(parts[1], result('c1', 'LOGIN_NAME=[redacted:env-value]'))
  })

test('a session without secrets is not changed, with exact numbers and keys such as __proto__', async () => {
  const args = JSON.parse('{"__proto__":{"a":1},"b":"x"}') as Record<string, unknown>
  const exact = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('12345678901234567890')
  const parts = [call('c1', { ...args, exact })]
  const clean = await redact(parts)
  assert.is(clean.session.trace, clean.given.trace)
  assert.is(clean.parts[0], parts[0])
  const { parts: redacted } = await redact([
    call('c1', Object.defineProperty({ exact, key: github }, '__proto__', { value: { a: github }, enumerable: true })),
  ])
  assert.is(
    JSON.stringify(redacted[0]!.content),
    '{"callId":"c1","toolName":"Bash","args":{"exact":12345678901234567890,"key":"[redacted:github]","__proto__":{"a":"[redacted:github]"}}}',
  )
})

test('a part that is nested too deeply to be searched is left out, and the others are kept', async () => {
  const deep = JSON.parse(`{"a":${'['.repeat(50_000)}"${github}"${']'.repeat(50_000)}}`) as Record<string, unknown>
  const { parts } = await redact([call('c1', deep), text(`use ${github}`)])
  assert.match(JSON.stringify(parts[0]), 'nested too deeply')
  assert.equal(parts[1], text('use [redacted:github]'))
})

test('the same session is redacted in the same way each time it is read', async () => {
  const { session } = await redact([text(`a ${github}`), text(`b ${other}`)])
  assert.equal(await Array.fromAsync(session.messages()), await Array.fromAsync(session.messages()))
})

test.run()
