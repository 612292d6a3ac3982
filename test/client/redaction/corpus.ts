/** A number generator with a seed, so that every run plants the same secrets. */
export const newRandom = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const UPPER = LOWER.toUpperCase()

/** The letters of a pattern: `{A:36}` is 36 random letters and digits of both cases. */
const alphabets: Readonly<Record<string, string>> = {
  A: LOWER + UPPER + DIGITS,
  a: LOWER + DIGITS,
  U: UPPER + DIGITS,
  L: LOWER,
  M: LOWER + UPPER,
  d: DIGITS,
  n: '123456789',
  h: `${DIGITS}abcdef`,
  H: `${DIGITS}ABCDEF`,
  b: `${LOWER}${UPPER}${DIGITS}+/`,
  u: `${LOWER}${UPPER}${DIGITS}-_`,
  s: '!@%*-_=+~^',
}

type Random = () => number

/** Random text of a pattern such as `ghp_{A:36}`. Made up: none of it was ever valid. */
export const fill = (random: Random, pattern: string): string =>
  pattern.replace(/\{([A-Za-z]):(\d+)\}/g, (_, key: string, count: string) =>
    Array.from({ length: Number(count) }, () => {
      const alphabet = alphabets[key]!
      return alphabet[Math.floor(random() * alphabet.length)]
    }).join(''),
  )

export const UUID = '{h:8}-{h:4}-4{h:3}-a{h:3}-{h:12}'

/** Secrets with a form of their own. */
export const forms: Readonly<Record<string, string>> = {
  'aws access key': 'AKIA{U:16}',
  'anthropic key': 'sk-ant-api03-{u:93}AA',
  'openai project key': 'sk-proj-{u:74}T3BlbkFJ{u:74}',
  'openai key': 'sk-{A:20}T3BlbkFJ{A:20}',
  'openrouter key': 'sk-or-v1-{h:64}',
  'deepseek key': 'sk-{h:32}',
  'langfuse key': `sk-lf-${UUID}`,
  'langsmith key': 'lsv2_pt_{h:32}_{h:10}',
  'tavily key': 'tvly-dev-{A:32}',
  'pinecone key': 'pcsk_{A:6}_{A:63}',
  'firecrawl key': 'fc-{h:32}',
  'cerebras key': 'csk-{a:48}',
  'fireworks key': 'fw_{A:24}',
  'groq key': 'gsk_{A:52}',
  'xai key': 'xai-{A:80}',
  'perplexity key': 'pplx-{A:48}',
  'replicate token': 'r8_{A:37}',
  'hugging face token': 'hf_{M:34}',
  'posthog key': 'phx_{A:43}',
  'bedrock key': 'ABSK{b:128}',
  'azure ad secret': '{A:3}8Q~{A:34}',
  'azure storage key': 'DefaultEndpointsProtocol=https;AccountName=app;AccountKey={b:86}==',
  'google api key': 'AIza{u:35}',
  'google client secret': 'GOCSPX-{u:28}',
  'alibaba key': 'LTAI{A:20}',
  'yandex key': 'AQVN{u:36}',
  'digitalocean token': 'dop_v1_{h:64}',
  'heroku key': 'HRKU-AA{u:58}',
  'fly token': 'fm2_{b:120}',
  'scalingo token': 'tk-us-{u:48}',
  'tailscale key': 'tskey-auth-{A:16}-{A:32}',
  'github token': 'ghp_{A:36}',
  'github fine-grained token': 'github_pat_{A:22}_{A:59}',
  'gitlab token': 'glpat-{u:20}',
  'gitlab runner token': 'glrt-{u:20}',
  'gitlab registration token': 'GR1348941{u:20}',
  'npm token': 'npm_{A:36}',
  'pypi token': 'pypi-AgEIcHlwaS5vcmc{u:80}',
  'rubygems key': 'rubygems_{h:48}',
  'docker token': 'dckr_pat_{u:27}',
  'artifactory key': 'AKCp{A:69}',
  'artifactory reference': 'cmVmd{A:59}',
  'harness token': 'pat.{u:22}.{A:24}.{A:20}',
  'octopus key': 'API-{U:26}',
  'terraform token': '{A:14}.atlasv1.{u:64}',
  'pulumi token': 'pul-{h:40}',
  'prefect key': 'pnu_{A:36}',
  'postman key': 'PMAK-{h:24}-{h:34}',
  'databricks token': 'dapi{h:32}',
  'neon key': 'napi_{a:64}',
  'supabase key': 'sbp_{h:40}',
  'planetscale token': 'pscale_tkn_{u:43}',
  'airtable token': 'pat{A:14}.{h:64}',
  'slack bot token': 'xoxb-{d:12}-{d:13}-{A:24}',
  'slack webhook': 'https://hooks.slack.com/services/T{U:8}/B{U:8}/{A:24}',
  'discord webhook': 'https://discord.com/api/webhooks/{n:18}/{u:68}',
  'teams webhook': `https://acme.webhook.office.com/webhookb2/${UUID}@${UUID}/IncomingWebhook/{h:32}/${UUID}`,
  'telegram bot token': '{n:9}:AA{u:33}',
  'sendgrid key': 'SG.{u:22}.{u:43}',
  'mailchimp key': '{h:32}-us12',
  'brevo key': 'xkeysib-{h:64}-{A:16}',
  'resend key': 're_{A:8}_{A:24}',
  'twilio key': 'SK{h:32}',
  'notion token': 'ntn_{d:11}{A:35}',
  'linear key': 'lin_api_{A:40}',
  'typeform token': 'tfp_{u:44}',
  'stripe key': 'sk_live_{A:24}',
  'square token': 'EAAA{u:60}',
  'shopify token': 'shpat_{h:32}',
  'grafana token': 'glsa_{A:32}_{h:8}',
  'new relic key': 'NRAK-{U:27}',
  'sentry dsn': 'https://{h:32}@o{n:6}.ingest.sentry.io/{n:7}',
  'dynatrace token': 'dt0c01.{U:24}.{U:64}',
  'doppler token': 'dp.pt.{A:43}',
  'vault token': 'hvs.{u:95}',
  'age key': 'AGE-SECRET-KEY-1{U:58}',
  'json web token': 'eyJ{u:33}.eyJ{u:60}.{u:43}',
  'postgres address': 'postgres://app:{A:18}@db.internal:5432/app',
  'mongodb address': 'mongodb+srv://app:{A:16}@cluster0.abcde.mongodb.net/app',
  'redis address': 'redis://:{A:24}@cache.internal:6379/0',
  'remote with a password': 'https://ada:{A:12}@git.internal/app.git',
  'private key': '-----BEGIN RSA PRIVATE KEY-----\n{b:64}\n{b:64}\n{b:64}\n-----END RSA PRIVATE KEY-----',
  'openssh key': '-----BEGIN OPENSSH PRIVATE KEY-----\n{b:70}\n{b:70}\n{b:44}\n-----END OPENSSH PRIVATE KEY-----',
  'tracebook token': 'tb_{u:43}',
}

/** Secrets that a name tells: its words, and the value. */
export const named: Readonly<Record<string, readonly [name: string, value: string]>> = {
  'short password': ['db password', '{M:4}{d:2}{M:2}'],
  'password of letters and digits': ['password', '{A:9}{d:1}'],
  'password with marks': ['smtp password', '{A:6}{d:1}{s:1}{A:4}'],
  'password that is a word': ['admin password', 'falcon{d:2}'],
  'long password': ['root password', '{A:24}'],
  passphrase: ['key passphrase', '{A:5}{s:1}{A:5}{d:2}'],
  'short token': ['access token', '{a:6}{d:2}{a:4}'],
  'auth token': ['auth token', '{A:32}'],
  'refresh token': ['refresh token', '{u:48}'],
  'uuid token': ['api token', UUID],
  'uuid key': ['heroku api key', UUID],
  'short key': ['api key', '{A:8}{d:2}'],
  'api key': ['api key', '{A:32}'],
  'hex key': ['datadog api key', '{h:32}'],
  'client secret': ['client secret', '{u:40}'],
  'hex secret': ['webhook secret', '{h:40}'],
  'short secret': ['app secret', '{A:8}{d:2}'],
  'signing key': ['signing key', '{b:43}='],
  'encryption key': ['encryption key', '{h:64}'],
  'secret access key': ['aws secret access key', '{b:40}'],
}

const wordsOf = (name: string) => name.split(' ')
const upper = (name: string) => wordsOf(name).join('_').toUpperCase()
const snake = (name: string) => wordsOf(name).join('_')
const kebab = (name: string) => wordsOf(name).join('-')
const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1)
const pascal = (name: string) => wordsOf(name).map(capital).join('')
const camel = (name: string) => name[0]! + pascal(name).slice(1)

/** Where agents meet values with a name. */
export const contexts: Readonly<Record<string, (name: string, value: string) => string>> = {
  json: (name, value) => JSON.stringify({ retries: 3, [camel(name)]: value, region: 'eu' }),
  'json in json': (name, value) =>
    JSON.stringify({ status: 200, body: JSON.stringify({ [snake(name)]: value, n: 1 }) }),
  'shell export': (name, value) => `$ export ${upper(name)}='${value}' && ./deploy.sh --now`,
  'shell export without quotes': (name, value) => `export ${upper(name)}=${value}\n./deploy.sh`,
  'environment of a command': (name, value) => `${upper(name)}="${value}" npm start`,
  '.env': (name, value) => `PORT=3000\n${upper(name)}=${value}\nDEBUG=false\n`,
  yaml: (name, value) => `service:\n  ${snake(name)}: "${value}"\n  replicas: 2\n`,
  'yaml without quotes': (name, value) => `service:\n  ${camel(name)}: ${value}\n  replicas: 2\n`,
  'yaml pair': (name, value) =>
    `env:\n  - name: ${upper(name)}\n    value: "${value}"\n  - name: PORT\n    value: "80"\n`,
  toml: (name, value) => `[service]\n${snake(name)} = "${value}"\nport = 80\n`,
  python: (name, value) => `import os\n\n${upper(name)}: str = "${value}"\nTIMEOUT = 30\n`,
  'python environment': (name, value) => `os.environ["${upper(name)}"] = "${value}"`,
  typescript: (name, value) => `export const config = {\n  ${camel(name)}: '${value}',\n  retries: 3,\n}\n`,
  'typescript constant': (name, value) => `const ${camel(name)}: string = '${value}'\nawait connect()\n`,
  call: (name, value) => `client.set${pascal(name)}("${value}").connect();`,
  'http header': (name, value) =>
    `GET /v1/items HTTP/1.1\nHost: api.acme.io\nX-${wordsOf(name).map(capital).join('-')}: ${value}\nAccept: */*\n`,
  'url query': (name, value) => `GET https://api.acme.io/v1/items?${snake(name)}=${value}&limit=10`,
  'cli flag': (name, value) => `$ acme deploy --${kebab(name)} '${value}' --region eu`,
  'cli flag with =': (name, value) => `$ acme deploy --${kebab(name)}=${value} --region eu`,
  docker: (name, value) => `docker run -d -e ${upper(name)}=${value} -p 80:80 acme/app`,
  compose: (name, value) => `services:\n  app:\n    environment:\n      - ${upper(name)}=${value}\n      - PORT=80\n`,
  dockerfile: (name, value) => `FROM node:26\nENV ${upper(name)} ${value}\nRUN npm ci\n`,
  markdown: (name, value) => `1. **${capital(name)}**: \`${value}\`\n2. Restart the service.\n`,
  prose: (name, value) => `Fine, the ${name} is \`${value}\`, go on with the deploy.`,
  log: (name, value) => `2026-03-01T10:00:00Z INFO config loaded ${snake(name)}=${value} region=eu\n`,
  diff: (name, value) => `@@ -1,3 +1,3 @@\n service:\n-  ${snake(name)}: none\n+  ${snake(name)}: ${value}\n`,
  'numbered lines': (name, value) => `    12→  "${camel(name)}": "${value}",\n    13→  "port": 80\n`,
}

/** Where the address or the command that holds a value says what it is; the value is what `{}` stands for. */
export const phrases: Readonly<Record<string, readonly [text: string, value: string]>> = {
  psql: ['PGPASSWORD={} psql -h db.internal -U app', '{A:9}{d:1}'],
  mysql: ['mysql -u root -p{} app < dump.sql', '{A:9}{d:1}'],
  curl: ['curl -s -u admin:{} https://api.acme.io/v1', '{A:9}{d:1}'],
  sshpass: ["sshpass -p '{}' ssh ada@build.internal", '{A:6}{s:1}{d:2}'],
  'docker login': ['docker login registry.acme.io -u ci -p {}', '{A:11}{d:1}'],
  'standard input': ["echo '{}' | docker login --username ci --password-stdin", '{A:11}{d:1}'],
  redis: ['redis-cli -h cache -a {} ping', '{A:11}{d:1}'],
  sql: ["CREATE USER app IDENTIFIED BY '{}';", '{A:9}{d:1}'],
  bearer: ['curl -H "Authorization: Bearer {}" https://api.acme.io', '{A:40}'],
  basic: ['Authorization: Basic {}', 'YWRhOl{A:20}'],
  'connection string': ['Server=db;Database=app;User Id=app;Password={};Encrypt=true', '{A:9}{d:1}'],
  'jdbc address': ['jdbc:mysql://db:3306/app?user=app&password={}&useSSL=true', '{A:9}{d:1}'],
  netrc: ['machine api.acme.io login ada password {}', '{A:9}{d:1}'],
  npmrc: ['//registry.acme.io/:_authToken={}', UUID],
  xml: ['<server><username>ci</username><password>{}</password></server>', '{A:9}{d:1}'],
  kubectl: ['kubectl create secret generic db --from-literal=login={}', '{A:9}{d:1}'],
}

/** Wraps pieces of three characters, which no name and no value begins or ends with alone. */
const inPieces = (text: string, before: string, after: string): string =>
  text.replace(/\w{3}/g, (piece) => `${before}${piece}${after}`)
const code = (character: string) => character.codePointAt(0)!

/** Ways to write a text so that a terminal or a page shows it as if it were written plainly. */
export const disguises: Readonly<Record<string, (text: string) => string>> = {
  'coloured words': (text) => text.replace(/\w+/g, (word) => `\u001b[38;5;186m${word}\u001b[39;49;00m`),
  'matches of grep': (text) => inPieces(text, '\u001b[01;31m\u001b[K', '\u001b[m\u001b[K'),
  'colours in JSON': (text) => inPieces(text, '\\u001b[32m', '\\u001b[0m'),
  'colours in JSON in JSON': (text) => inPieces(text, '\\\\u001b[32m', '\\\\u001b[0m'),
  'colours in code': (text) => inPieces(text, '\\x1b[1;31m', '\\033[0m'),
  'colours of cat -v': (text) => inPieces(text, '^[[32m', '^[[0m'),
  'links of a terminal': (text) => inPieces(text, '\u001b]8;;https://acme.io\u001b\\', '\u001b]8;;\u0007'),
  'other sequences': (text) => inPieces(text, '\u001b(B\u009b1m', '\u001b7\u001b[?25l'),
  'characters without width': (text) => inPieces(text, '\u200b\u2060', '\u00ad\ufeff'),
  'marks of direction': (text) => inPieces(text, '\u202a', '\u202c\u200f'),
  'variants and tags': (text) => inPieces(text, '\ufe0f', '\u{e0101}\u{e0041}'),
  'bold of a manual': (text) => text.replace(/[!-~]/g, (character) => `${character}\b${character}`),
  'underlined in a manual': (text) => text.replace(/[!-~]/g, (character) => `_\b${character}`),
  'written over a line': (text) => text.replace(/^.+$/gm, (line) => `${line.replaceAll(/\S/g, '.')}\r${line}`),
  'erased and written': (text) => text.replace(/^.+$/gm, (line) => `Loading ...\r\u001b[K\u001b[32m${line}\u001b[0m`),
  'UTF-16': (text) => text.replace(/[^]/g, '$&\0'),
  'wide characters': (text) => text.replace(/[!-~]/g, (character) => String.fromCharCode(code(character) + 0xfee0)),
  'mathematical letters': (text) =>
    text.replace(/[a-z]/g, (letter) => String.fromCodePoint(0x1d41a + code(letter) - 97)),
  'spaces without a break': (text) => text.replaceAll(' ', '\u00a0'),
  'entities of HTML': (text) => text.replace(/[^\w\s]|\w(?=\w{3})/g, (character) => `&#${code(character)};`),
  'HTML in HTML': (text) => text.replace(/[^\w\s]/g, (character) => `&amp;#x${code(character).toString(16)};`),
  'elements of HTML': (text) => inPieces(text, '<span class="x">', '</span>'),
  'percent-encoding': (text) =>
    text.replace(/[^\w\s]/g, (character) => `%${code(character).toString(16).padStart(2, '0')}`),
  'escapes of JSON': (text) =>
    text.replace(/[^\w\s]/g, (character) => `\\u${code(character).toString(16).padStart(4, '0')}`),
}

/** What the harmless contexts are filled with: values of names that tell secrets, and none of them is one. */
export const harmless: readonly string[] = [
  'string',
  'undefined',
  'null',
  'changeme',
  'your-api-key',
  '<your-token>',
  'xxxxxxxx',
  '********',
  '${PASSWORD}',
  '$API_KEY',
  'process.env.API_KEY',
  'value.key',
  'options.credentials.token',
  'getpass()',
  'Ed25519PrivateKey',
  'SecretStr',
  'required',
  '{{ secrets.API_KEY }}',
  'true',
  '128000',
  'placeholder',
  'redacted',
  'test-token',
  'secret',
  'password123',
  '%s',
  '...',
  './certs/server.pem',
  'https://acme.io/reset',
  'accessTokenProvider',
  'PASSWORD_FIELD',
  'ref:vault',
  'example-key',
  '[redacted:github]',
]

/** Texts in which nothing is secret, though much looks like it. */
export const innocent: readonly string[] = [
  'commit 5943822b1c8e3a1f1b0c9f6b2d7e4a3c5f6e7d8a fixes the tokenizer',
  'sha512-IcOR87MpNjp/WTO7bVMsIj3qkhVD+Qr/oNaA0Xl4Ok1LqG4bjXu5RjiY0Kid70BoR9eCJgkoq5gNHDGXPx+o1g==',
  'maxTokens: 128000, tokenCount = 15234, password_reset_token_expires_in: 3600',
  'AKIAIOSFODNN7EXAMPLE is the one of the manual',
  'postgres://postgres:postgres@localhost:5432/app and https://user:password@host/',
  'const token = process.env.GITHUB_TOKEN ?? readTokenFromKeychain()',
  'see src/session/token-storage.ts, apiKey: this.options.credentials.apiKey',
  'function login(user: string, password: string, token?: Token): Promise<AccessToken>',
  'primaryKey: "0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b", cacheKey: "user:42:profile", key="item-3"',
  '{"key": "ctrl+k", "command": "editor.open"}, {"key":"PROJ-1234","token_type":"bearer"}',
  'next_page_token: "CAUQAA8ad73hf6d2kfhsla92h", eos_token: "<|endoftext|>", pad_token_id: 50256',
  '"jsonwebtoken": "^9.0.2", "@types/jsonwebtoken": "^9.0.6", "@nestjs/jwt": "~10.2.0", "minipass": "^7.1.3"',
  '"passport-jwt": ">=4.0.1", "lcobucci/jwt": "^4.0|^5.0", "otp-secret": "^1.0.0", "my-token": ">=1.0.0 <2.0.0 || ^3.1.x"',
  'PyJWT = "^2.8.0"\ndjangorestframework-jwt = ">=1.11,<2.0"\nPyJWT==2.8.0\n"jwt": "1.0.0-beta.3"',
  "implementation 'io.jsonwebtoken:jjwt-api:0.12.5'",
  '"password": "#/components/schemas/Pass1", jwt: "$.data.v1", "token": "~4,000", "secret": "^4,000"',
  'PASSWORD_RE="^[a-z0-9]{8,}$"\npassword: "^[A-Za-z0-9]{8,}$"',
  '"password": "users[0].password", password = "users[0].password1", "token": "items[12].auth.v1"',
  'git add .env.example && echo ".env" >> .gitignore && git commit -m "Ignore .env"',
  'The password must have 8 characters. Enter your password: ',
  'password = input("Password: ")\ntoken = jwt.encode(payload, key=settings.secret_key)',
  '--password-file /run/secrets/db --token-ttl 15m0s --key-id abc123',
  'the key of the map is a string, the token is then parsed, and the secret is out',
  'if (token.type === "identifier" && token.value === "x1") return parseKey(key2, token2)',
  'layer sha256:5d41402abc4b2a76b9719d911017c592ae2f3b1c4d5e6f708192a3b4c5d6e7f8 pulled, id 0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b',
]
