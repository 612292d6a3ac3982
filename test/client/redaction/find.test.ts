import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newFindSecrets } from '../../../src/client/redaction/find.ts'
import { rules } from '../../../src/client/redaction/rules.ts'
import { textShown } from '../../../src/client/redaction/shown.ts'
import { contexts, disguises, fill, forms, harmless, innocent, named, newRandom, phrases } from './corpus.ts'
import { samples } from './rule-samples.ts'
import { runs } from '../../support/runs.ts'

const test = suite('finding secrets in a text')
const find = newFindSecrets()

const without = (text: string, about: Parameters<typeof find>[1] = {}): string =>
  find(text, about).reduceRight(
    (rest, { start, end, rule }) => `${rest.slice(0, start)}[${rule}]${rest.slice(end)}`,
    text,
  )

/** Texts with a secret each, of every kind in every context. */
const planted = (): readonly { readonly text: string; readonly secret: string; readonly kind: string }[] => {
  const random = newRandom(27)
  const inContexts = (kind: string, name: string, pattern: string) =>
    Object.entries(contexts).map(([context, write]) => {
      const secret = fill(random, pattern)
      return { kind: `${kind}, ${context}`, text: write(name, secret), secret }
    })
  return [
    ...Object.entries(forms).flatMap(([kind, pattern]) => inContexts(kind, 'service endpoint', pattern)),
    ...Object.entries(named).flatMap(([kind, [name, pattern]]) => inContexts(kind, name, pattern)),
    ...Object.entries(phrases).map(([kind, [phrase, pattern]]) => {
      const secret = fill(random, pattern)
      return { kind, text: phrase.replace('{}', secret), secret }
    }),
  ]
}

/** In each way a usual run tries one of so many of the texts. */
const PARTS = 5

const isIn = (text: string, secret: string) =>
  text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))

test('of planted secrets of more than 100 kinds, in more than 25 contexts, at least 98 of 100 are found', () => {
  assert.ok(Object.keys({ ...forms, ...named }).length > 100)
  assert.ok(Object.keys(contexts).length > 25)
  const all = planted()
  const missed = all.filter(({ text, secret }) => isIn(without(text), secret))
  process.stdout.write(`${missed.length} of ${all.length} planted secrets missed\n`)
  assert.ok(missed.length <= all.length / 50, missed.map(({ kind, text }) => `${kind}: ${text}`).join('\n'))
})

test('at least 98 of 100 are found in whatever way they are written so that a terminal or a page shows them', () => {
  const all = planted()
  const ways = Object.entries(disguises)
  let [sum, count] = [0, 0]
  for (const [index, [way, disguise]] of ways.entries()) {
    const some = all.filter((_, i) => (i + index) % PARTS < runs(1)) // other texts in each way
    const missed = some.filter(({ text, secret }) => isIn(textShown(without(disguise(text))), secret))
    assert.ok(missed.length <= some.length / 50, missed.map(({ kind, text }) => `${way}, ${kind}: ${text}`).join('\n'))
    sum += missed.length
    count += some.length
  }
  process.stdout.write(`${sum} of ${count} missed that are planted in ${ways.length} ways\n`)
})

test('at most one secret in seven is missed, for each kind and each context', () => {
  for (const part of [0, 1]) {
    const byPart = Map.groupBy(planted(), ({ kind }) => kind.split(', ')[part] ?? 'phrase')
    for (const [name, all] of byPart) {
      const missed = all.filter(({ text, secret }) => isIn(without(text), secret))
      assert.ok(missed.length <= Math.max(1, all.length / 7), `${name}: ${missed.map(({ text }) => text).join('\n')}`)
    }
  }
})

test('words, variables, types and placeholders next to the name of a secret are not taken for secrets', () => {
  const wrong: string[] = []
  for (const [name] of Object.values(named))
    for (const write of Object.values(contexts))
      for (const value of harmless) {
        const text = write(name, value)
        if (find(text).length > 0) wrong.push(`${text} became ${without(text)}`)
      }
  assert.equal(wrong, [])
})

test('nor are they in whatever way they are written', () => {
  const wrong: string[] = []
  // A value in an address is searched as it is written, too, because a percent sign may belong to a password.
  const { 'percent-encoding': _, ...ways } = disguises
  for (const disguise of Object.values(ways))
    for (const text of [
      ...innocent,
      ...Object.values(contexts).flatMap((write) => harmless.map((value) => write('db password', value))),
    ])
      if (find(disguise(text)).length > 0) wrong.push(`${text} became ${without(disguise(text))}`)
  assert.equal(wrong, [])
})

test('a text that only resembles a secret is not taken for one', () => {
  for (const text of innocent) assert.is(without(text), text)
})

test('each row of the table of rules finds, by itself, a sample of its rule', () => {
  const random = newRandom(5)
  for (const row of rules) {
    const { found = [] } = samples[row.rule] ?? {}
    const findAlone = newFindSecrets([row])
    const finds = found.some((pattern) => findAlone(fill(random, pattern)).length > 0)
    assert.ok(finds, `${row.rule}, with ${row.keywords.join(' ')}`)
  }
})

for (const [rule, { found, letBe }] of Object.entries(samples))
  test(`the rule ${rule} finds its samples, and no similar text`, () => {
    assert.ok(rules.some((row) => row.rule === rule))
    assert.ok(letBe.length > 0)
    const random = newRandom(6)
    for (const pattern of found) {
      const text = fill(random, pattern)
      assert.is.not(without(text), text)
    }
    for (const pattern of letBe) {
      const text = fill(random, pattern)
      assert.is(without(text), text)
    }
  })

for (const pattern of [
  'Authorization: Bearer eyJ{A:33}.eyJ{A:4096}.{u:43}',
  '"id_token":"eyJ{u:33}.eyJ{u:4096}.{u:43}"',
  'it was eyJ{u:33}.eyJ{u:4096}.{u:43} then',
  'Bearer eyJ{A:33}.eyJ{A:90}.{A:12}',
  '-eyJ{u:33}.eyJ{u:4096}.{u:43}',
  'Authorization: Bearer {A:1212}',
  'use Bearer {A:1212} there',
  'client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{b:2240}==',
  '//registry.acme.io/:_authToken={A:900}',
  'Cookie: sessionid={A:900}',
  'sk_live_{A:900}',
  '"access_token": "{A:900}"',
  'call({access_token: "{A:900}"})',
  'TOKEN={A:900}',
  'export API_TOKEN={u:3000}',
  'GCP_SERVICE_KEY_BASE64={b:2240}',
  '?api_key={A:900}&limit=10',
])
  test(`a long secret is removed whole: ${pattern}`, () => {
    const text = fill(newRandom(9), pattern)
    const left = without(text)
    const secrets = text.match(/[\w+/-]{40,}/g)!
    assert.not.ok(
      secrets.some((secret) => left.includes(secret.slice(0, 12)) || left.includes(secret.slice(-8))),
      left,
    )
    if (pattern.endsWith('&limit=10')) assert.ok(left.endsWith('&limit=10'))
  })

test('a long value is a secret if its name in the arguments of a call says so', () =>
  assert.is(without(fill(newRandom(9), '{A:900}'), { name: 'access_token' }), '[secret-value]'))

for (const [what, text, left] of [
  [
    'an address loses its password alone',
    'postgres://app:Tr0ub4dor3x@db.internal/app',
    'postgres://app:[url-password]@db.internal/app',
  ],
  ['a password may hold @ and /', 'postgres://app:p@ss/w0rdX@db:5432/app', 'postgres://app:[url-password]@db:5432/app'],
  [
    'a password between quotes may hold spaces',
    `curl -u 'ada:Pa55 word9x' https://acme.io`,
    `curl -u 'ada:[password-argument]' https://acme.io`,
  ],
  [
    'a line of settings is read to its end',
    'DB_PASSWORD=Zx9kk2pL<qq77Ab\nPORT=1',
    'DB_PASSWORD=[secret-value]\nPORT=1',
  ],
  ['an element ends a value', '<p>DB_PASSWORD=Zx9kk2pL<br>', '<p>DB_PASSWORD=[secret-value]<br>'],
  ['digits may be a password', 'redis://:98213@cache.internal:6379/0', 'redis://:[url-password]@cache.internal:6379/0'],
  [
    'a webhook keeps its host',
    'https://hooks.slack.com/services/T0AB1/B0AB1/abcdEFGH1234',
    'https://hooks.slack.com/services/[slack]',
  ],
  [
    'a mark of the shell is a part of the password',
    'export DB_PASSWORD=Tr0ub4dor&3xyz',
    'export DB_PASSWORD=[secret-value]',
  ],
  ['the next parameter of an address is not', '?api_key=k3jx9q2mAB&limit=10', '?api_key=[secret-value]&limit=10'],
  [
    'nor is the next of a connection string',
    'Password=k3jx9q2mAB;Database=app',
    'Password=[secret-value];Database=app',
  ],
  ['nor the end of a sentence', 'The password is k3jx9q2mAB. Go on.', 'The password is [secret-value]. Go on.'],
  [
    'a line break of JSON begins a word',
    String.raw`"a\nsk-0123456789abcdef0123456789abcdee"`,
    String.raw`"a\n[deepseek]"`,
  ],
  [
    'a comment switches nothing off',
    '/* secretlint-disable */ password: "k3jx9q2mAB"',
    '/* secretlint-disable */ password: "[secret-value]"',
  ],
  ['a type with digits is a type', 'privateKey: Ed25519PrivateKey', 'privateKey: Ed25519PrivateKey'],
  [
    'a default of a variable is found',
    'PASSWORD: ${PG_PASSWORD:-k3jx9q2mAB}',
    'PASSWORD: ${PG_PASSWORD:-[secret-value]}',
  ],
  ['what was taken out before is let be', 'API_KEY=[redacted:secret-value]', 'API_KEY=[redacted:secret-value]'],
] as const)
  test(what, () => assert.is(without(text), left))

test('a value is a secret if its name in the arguments of a call says so', () => {
  assert.is(without('k3jx9q2mAB', { name: 'DB_PASSWORD' }), '[secret-value]')
  assert.is(without('k3jx9q2mAB', { name: 'description' }), 'k3jx9q2mAB')
  assert.is(without('changeme', { name: 'DB_PASSWORD' }), 'changeme')
})

test('every value in an environment file is a secret, except values that carry no information', () =>
  assert.is(
    without(
      '# settings\nPORT=3000\nDEBUG=true\nSMTP_LOGIN=ada-mailer\nexport SALT="pepper & thyme"\nURL=https://x.org/a\n',
      { isEnv: true },
    ),
    '# settings\nPORT=3000\nDEBUG=true\nSMTP_LOGIN=[env-value]\nexport SALT="[env-value]"\nURL=https://x.org/a\n',
  ))

test('a private key of 16 MB without a last line is found whole', () => {
  const long = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC-'.repeat(500_000)}`
  assert.is(without(long), '[privatekey]')
})

test('a text that consists of keywords is searched in time proportional to its length', () => {
  // What looked on to the end from each of them would take minutes.
  const words = [
    'sk-',
    'password="',
    'eyJ-',
    'authorization=',
    'eyJaaaaaaaaa.',
    'bearer ',
    'password=',
    '-----BEGIN PRIVATE KEY-----',
    '://a:',
    'token ',
    'mysql ',
    'login ',
  ]
  for (const word of [...words, 'kind: secret\ndata:\n', 'echo a '])
    assert.ok(find(word.repeat(20_000)).length <= 20_000)
})

test.run()
