import { existsSync, globSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadProgram } from '../src/commands/program.ts'
import { Environment } from '../src/server/config.ts'
import { defaultDataDir } from '../src/eventstore/embedded/default-data-dir.ts'

const test = suite('README')
const root = join(import.meta.dirname, '..')
const text = readFileSync(join(root, 'README.md'), 'utf8')
const { DATA_DIR, ...others } = Environment.shape

/** A row of a table of settings: a variable, its default (undefined for `–`, none), and what it means. */
type Setting = { readonly name: string; readonly value: string | undefined; readonly meaning: string }

const settingsOn = (page: string): Setting[] =>
  [
    ...readFileSync(join(root, page), 'utf8').matchAll(
      /^\| `(?<name>[A-Z][A-Z_]+)` +\| (?:`(?<value>[^`]+)`|–) +\| (?<meaning>\S.*) \|$/gm,
    ),
  ].map(({ groups }) => groups as unknown as Setting)

const settings = [...settingsOn('README.md'), ...settingsOn('src/commands/README.md')]

test('README and the page for operators together list every variable of the configuration once, and no other', () => {
  assert.equal(settings.map(({ name }) => name).sort(), Object.keys(Environment.shape).sort())
})

const settingNamed = (wanted: string): Setting => settings.find(({ name }) => name === wanted)!

for (const [name, schema] of Object.entries(others)) {
  test(`gives the default of ${name}`, () => {
    const { value } = settingNamed(name)
    const usual = schema.parse(undefined)
    if (value === undefined) assert.ok(usual === undefined || (Array.isArray(usual) && usual.length === 0), `${usual}`)
    else assert.equal(schema.parse(value), usual)
  })
}

const NOT_ROOT = 1000

test('gives the default of DATA_DIR, and where it lies for root in a folder that others cannot enter', () => {
  const { value, meaning } = settingNamed('DATA_DIR')
  const [, folder] = /`(\/[^`]+)`/.exec(meaning)!
  const closed = mkdtempSync(join(tmpdir(), 'tracebook-closed-'))
  assert.is(DATA_DIR.parse(undefined), defaultDataDir())
  assert.is(defaultDataDir(closed, NOT_ROOT), join(closed, value!))
  assert.is(dirname(defaultDataDir(closed, 0)), folder)
  rmdirSync(closed)
})

test('lists every command, and no other', async () => {
  const table = /^\| Command [^\n]*\n((?:\|[^\n]*\n)+)/m.exec(text)![1]!
  const named = [...table.matchAll(/^\|(.*?) \| /gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([a-z]+)[^`]*`/g)].map(([, name]) => name!),
  )
  assert.equal(named.sort(), (await loadProgram()).commands.map((command) => command.name()).sort())
})

const MOST_BYTES = 12_000

test('fits into a short read', () =>
  assert.ok(Buffer.byteLength(text) <= MOST_BYTES, `${Buffer.byteLength(text)} bytes`))

/** As the address of a heading is made of its text. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

const pages = globSync(['README.md', '{src,test,projections}/**/README.md'], { cwd: root }).sort()

test('there are pages of modules', () => assert.ok(pages.length > 10))

for (const page of pages) {
  test(`${page} links to what is there`, () => {
    const content = readFileSync(join(root, page), 'utf8')
    for (const [, path, anchor] of content.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const target = path === '' ? join(root, page) : join(root, dirname(page), path!)
      assert.ok(existsSync(target), path)
      if (anchor) assert.ok(anchorsOf(readFileSync(target, 'utf8')).includes(anchor), `${path}#${anchor}`)
    }
    for (const [, path] of content.matchAll(/`((?:\.\.\/|src\/|test\/|projections\/|\.ci\/)[\w./-]+)`/g))
      assert.ok(
        [dirname(page), '.', 'src'].some((from) => existsSync(join(root, from, path!))),
        path,
      )
  })
}

/** The first cells of a table of files; nothing where a page has none. */
const tableOfFiles = (content: string): string | undefined =>
  /^\| Files? [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m
    .exec(content)?.[1]!
    .split('\n')
    .map((row) => row.split(' | ')[0])
    .join('\n')

for (const page of pages) {
  const cells = tableOfFiles(readFileSync(join(root, page), 'utf8'))
  if (cells === undefined) continue
  test(`${page} has all files of its module in its table, and no other`, () => {
    const named = [...cells.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name!)
    const files = globSync('*.ts', { cwd: join(root, dirname(page)) }).filter((file) => !file.endsWith('.test.ts'))
    assert.equal(named.sort(), files.sort())
  })
}

test('runs npm scripts that there are', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  for (const [, name] of text.matchAll(/npm run (?:-s )?([a-z]+)/g)) assert.ok(Object.hasOwn(scripts, name!), name)
})

test.run()
