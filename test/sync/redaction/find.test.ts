import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newFindSecrets } from '../../../src/sync/redaction/find.ts'
import { scanners } from '../../../src/sync/redaction/secretlint.ts'
import { contexts, kinds, newRandom, secretOf } from './corpus.ts'

const test = suite('sync/redaction/find')
const find = newFindSecrets()

const without = (text: string, isEnv = false): string =>
  find(text, isEnv).reduceRight(
    (rest, { start, end, rule }) => `${rest.slice(0, start)}[${rule}]${rest.slice(end)}`,
    text,
  )

test('of planted secrets of more than 25 kinds at least 99 of 100 are found', () => {
  const random = newRandom(15)
  const missed: string[] = []
  let planted = 0
  for (const [kind, make] of Object.entries(kinds))
    for (const context of contexts) {
      const made = make(random)
      planted += 1
      const left = without(context(made))
      if (left.includes(secretOf(made)) || left.includes(JSON.stringify(secretOf(made)).slice(1, -1)))
        missed.push(`${kind}: ${context(made).slice(0, 120)}`)
    }
  assert.ok(Object.keys(kinds).length > 25 && planted >= 200, `${planted}`)
  assert.ok(missed.length <= planted / 100, missed.join('\n'))
})

test('what only looks like a secret is let be', () => {
  for (const text of [
    'const token = process.env.GITHUB_TOKEN ?? readTokenFromKeychain()',
    'password: "changeme", API_KEY=your-api-key-goes-here, SECRET=${SECRET_FROM_VAULT}',
    'postgres://postgres:postgres@localhost:5432/app and https://user:password@host/',
    'token: 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b',
    'see src/session/token-storage.ts, apiKey: this.options.credentials.apiKey',
    'commit 5943822b1c8e3a1f1b0c9f6b2d7e4a3c5f6e7d8a fixes the tokenizer',
    'sha512-IcOR87MpNjp/WTO7bVMsIj3qkhVD+Qr/oNaA0Xl4Ok1LqG4bjXu5RjiY0Kid70BoR9eCJgkoq5gNHDGXPx+o1g==',
    'maxTokens: 128000, tokenCount = 15234, password_reset_token_expires_in: 3600',
    'AKIAIOSFODNN7EXAMPLE is the one of the manual',
    '// secretlint-disable',
  ])
    assert.equal(find(text), [], text)
})

test('a comment in a text switches nothing off', () => {
  const [key] = [kinds['github token']!(newRandom(1))]
  assert.is(without(`/* secretlint-disable */ ${key}`), '/* secretlint-disable */ [github]')
})

test('of an address with a password the password alone is taken out', () =>
  assert.is(
    without('DATABASE_URL=postgres://app:Tr0ub4dor3x@db.internal:5432/app'),
    'DATABASE_URL=postgres://app:[url-password]@db.internal:5432/app',
  ))

test('in an environment file every value that says something is secret', () =>
  assert.is(
    without(
      '# settings\nPORT=3000\nDEBUG=true\nSMTP_LOGIN=ada-mailer\nexport SALT="pepper & thyme"\nURL=https://x.org/a\n',
      true,
    ),
    '# settings\nPORT=3000\nDEBUG=true\nSMTP_LOGIN=[env-value]\nexport SALT="[env-value]"\nURL=https://x.org/a\n',
  ))

test('the rules of secretlint are the ones whose hints are known', () =>
  assert.equal(scanners.map(({ meta }) => meta.id.replace('@secretlint/secretlint-rule-', '')).sort(), [
    '1password',
    'anthropic',
    'aws',
    'basicauth',
    'cloudflare',
    'database-connection-string',
    'databricks',
    'docker',
    'figma',
    'gcp',
    'github',
    'gitlab',
    'grafana',
    'groq',
    'hashicorp-vault',
    'huggingface',
    'linear',
    'notion',
    'npm',
    'openai',
    'privatekey',
    'sendgrid',
    'shopify',
    'slack',
    'stripe',
    'tailscale',
    'vercel',
  ]))

test.run()
