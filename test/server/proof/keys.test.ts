import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, readConfig } from '../../../src/server/config.ts'
import { originWarning, readSigner } from '../../../src/server/proof/keys.ts'
import { generateSigner, parseSigner } from '../../../src/server/proof/note.ts'
import { inFolder } from '../../eventstore/embedded/support.ts'

const test = suite('proof/keys')

const settings = (env: Record<string, string> = {}) => readConfig(env)

test('an embedded database gets its own key, which stays and is readable by its owner only', () =>
  inFolder(async (folder) => {
    const made = await readSigner(settings(), folder)
    assert.is(made!.name, 'tracebook.invalid/log')
    const file = join(folder, 'audit.key')
    assert.is((await stat(file)).mode & 0o777, 0o600)
    assert.is(parseSigner((await readFile(file, 'utf8')).trim()).text, made!.text)
    assert.is((await readSigner(settings(), folder))!.text, made!.text)
  }))

const PUBLIC_URL = 'https://traces.example.com/'
const AUDIT_ORIGIN = 'example.com/log7'

test('the origin of a new key is AUDIT_ORIGIN, otherwise the host of PUBLIC_URL', async () => {
  for (const [env, name] of [
    [{ PUBLIC_URL }, 'traces.example.com'],
    [{ PUBLIC_URL: 'http://127.0.0.1:3000' }, '127.0.0.1:3000'],
    [{ PUBLIC_URL, AUDIT_ORIGIN }, AUDIT_ORIGIN],
  ] as const)
    await inFolder(async (folder) => assert.is((await readSigner(settings(env), folder))!.name, name))
})

test('a key keeps its name when PUBLIC_URL changes; AUDIT_ORIGIN gives it another one', () =>
  inFolder(async (folder) => {
    const made = await readSigner(settings(), folder)
    assert.is((await readSigner(settings({ PUBLIC_URL }), folder))!.text, made!.text)
    const renamed = await readSigner(settings({ PUBLIC_URL, AUDIT_ORIGIN }), folder)
    const secret = (text: string) => text.split('+').at(-1)
    assert.is(renamed!.name, AUDIT_ORIGIN)
    assert.is(secret(renamed!.text), secret(made!.text))
    assert.is((await readSigner(settings(), folder))!.text, made!.text)
  }))

test('a key without the name of a host is warned of once there is a PUBLIC_URL, with what renames it', () =>
  inFolder(async (folder) => {
    const made = (await readSigner(settings(), folder))!
    assert.is(originWarning(made, settings()), undefined)
    const own = originWarning((await readSigner(settings({ PUBLIC_URL }), folder))!, settings({ PUBLIC_URL }))!
    assert.match(
      own,
      /name the log tracebook\.invalid\/log, but PUBLIC_URL is https:.*: set AUDIT_ORIGIN=traces\.example\.com\./,
    )
    const configured = settings({ PUBLIC_URL, AUDIT_KEY: made.text })
    assert.match(originWarning(made, configured)!, '`tracebook audit new-key traces.example.com`')
    for (const env of [
      { PUBLIC_URL, AUDIT_ORIGIN },
      { PUBLIC_URL, AUDIT_ORIGIN: 'traces.example.com' },
    ])
      assert.is(originWarning((await readSigner(settings(env), folder))!, settings(env)), undefined)
  }))

test('a configured key determines the origin, and is used for every database', () =>
  inFolder(async (folder) => {
    const { text, name } = generateSigner('example.com/log')
    const file = join(folder, 'key')
    await writeFile(file, `${text}\n`)
    for (const env of [{ AUDIT_KEY: text }, { AUDIT_KEY_FILE: file }, { AUDIT_KEY: text, AUDIT_ORIGIN: name }]) {
      const config = settings({ ...env, PUBLIC_URL: 'https://traces.example.com' })
      for (const dataDir of [undefined, folder]) assert.is((await readSigner(config, dataDir))!.text, text)
    }
    assert.is(await readSigner(settings(), undefined), undefined)
  }))

test('an unusable key stops the start with a line that names the variable, and not the key', () =>
  inFolder(async (folder) => {
    const { text } = generateSigner('example.com/log')
    const secret = text.split('+').at(-1)!
    const environments = [
      { AUDIT_KEY: text.slice(0, -1) },
      { AUDIT_KEY: text, AUDIT_KEY_FILE: '/key' },
      { AUDIT_KEY: text, AUDIT_ORIGIN: 'example.com/other' },
      { AUDIT_ORIGIN: 'two words' },
      { AUDIT_PUBLIC: 'yes' },
    ]
    for (const env of environments) {
      assert.throws(
        () => settings(env),
        (error: unknown) =>
          error instanceof ConfigError && /AUDIT_/.test(error.message) && !error.message.includes(secret),
      )
    }
    const file = join(folder, 'key')
    const failing = async (env: Record<string, string>) => {
      const error: Error = await readSigner(settings(env), undefined).then(
        () => assert.unreachable() as never,
        (error) => error,
      )
      return error.message
    }
    assert.match(await failing({ AUDIT_KEY_FILE: file }), 'AUDIT_KEY_FILE')
    await writeFile(file, text.replace('PRIVATE', 'PUBLIC'))
    assert.match(await failing({ AUDIT_KEY_FILE: file }), file)
    await writeFile(file, text)
    assert.match(await failing({ AUDIT_KEY_FILE: file, AUDIT_ORIGIN: 'other' }), 'AUDIT_ORIGIN')
  }))

test.run()
