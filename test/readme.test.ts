import { existsSync, globSync, mkdtempSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../src/client/agents/index.ts'
import { loadProgram } from '../src/commands/program.ts'
import { Environment } from '../src/server/config.ts'
import { defaultDataDir } from '../src/eventstore/embedded/default-data-dir.ts'
import { agentName } from '../src/transcript/agent-names.ts'

const test = suite('README')
const root = join(import.meta.dirname, '..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const text = read('README.md')
const { DATA_DIR, ...others } = Environment.shape

/** A row of a table of settings: a variable, its default (undefined for `–`, none), and what it means. */
type Setting = { readonly name: string; readonly value: string | undefined; readonly meaning: string }

const settingsOn = (page: string): Setting[] =>
  [...read(page).matchAll(/^\| `(?<name>[A-Z][A-Z_]+)` +\| (?:`(?<value>[^`]+)`|–) +\| (?<meaning>\S.*) \|$/gm)].map(
    ({ groups }) => groups as unknown as Setting,
  )

const MOST_SETTINGS = 10
const ofMost = settingsOn('README.md')
const settings = [...ofMost, ...settingsOn('src/commands/README.md')]

test('has the few settings that people set', () => assert.is(ofMost.length, MOST_SETTINGS))

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

test('the page of the client lists every command, and no other', async () => {
  const table = /^\| Command [^\n]*\n((?:\|[^\n]*\n)+)/m.exec(read('src/client/README.md'))![1]!
  const named = [...table.matchAll(/^\|(.*?) \| /gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([a-z]+)[^`]*`/g)].map(([, name]) => name!),
  )
  assert.equal(named.sort(), (await loadProgram()).commands.map((command) => command.name()).sort())
})

test('names every agent, and no other', () => {
  const [, row] = /^It reads \*\*(.*)\*\*/m.exec(text)!
  assert.equal(
    row!.split(' · '),
    agents.map(({ id }) => agentName(id)!).sort((a, b) => a.localeCompare(b)),
  )
})

const MOST_PICTURE_BYTES = 150_000
const PICTURES = 'src/server/web/pictures'

test('shows pictures that are there and small, in light and dark, and says in words what they show', () => {
  const shown = [
    ...text.matchAll(/<picture>\n.*\(prefers-color-scheme: dark\)" srcset="(.*)">\n.* src="(.*?)" alt="(.*)">\n/g),
  ]
  const files = shown.flatMap(([, dark, light, words]) => {
    assert.is(dark!.replace('-dark.', '-light.'), light)
    assert.ok(words!.length > 50, words)
    return [dark!, light!]
  })
  assert.equal(files.sort(), globSync(`${PICTURES}/*`, { cwd: root }).sort())
  for (const file of files) assert.ok(statSync(join(root, file)).size <= MOST_PICTURE_BYTES, file)
})

/** A row of the table of benchmarks. */
type Figures = { readonly name: string; readonly reached: string; readonly ratio: string; readonly target: string }

const figures: readonly Figures[] = [
  ...read('test/bench/README.md').matchAll(
    /^\| (?<name>[a-z][^|]*) \| (?<reached>[^|]+) \| [^|]*\| (?:(?<ratio>[^|]+) )?\| (?:(?<target>[^|]+) )?\|$/gm,
  ),
].map(({ groups }) => groups as unknown as Figures)

const numbersIn = (cell: string): number[] =>
  [...cell.matchAll(/[\d.,]*\d/g)].map(([number]) => Number(number.replaceAll(',', '')))

/** Whether a row misses its target: the least ratio, or the most that each of its figures may be; a single one is for the last figure. */
const isMissed = ({ reached, ratio, target }: Figures): boolean => {
  const limits = numbersIn(target)
  if (ratio !== undefined) return Number(ratio) < limits[0]!
  return numbersIn(reached)
    .slice(-limits.length)
    .some((figure, i) => figure > limits[i]!)
}

test('a row of the benchmark that misses its target says so, and no other', () => {
  const withTarget = figures.filter(({ target }) => target !== undefined)
  assert.ok(withTarget.length > 15, `${withTarget.length} rows`)
  for (const row of withTarget) assert.is(row.target.endsWith(': missed'), isMissed(row), row.name)
})

test('has five rows of the benchmark, as they are in its table', () => {
  const rows = [...text.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| (\d[^|]*) \| ([^|]+) \|$/gm)]
  assert.is(rows.length, 5)
  for (const [, name, reached, target] of rows)
    assert.ok(
      figures.some(
        (row) => row.name.startsWith(name!) && [row.reached, row.ratio].includes(reached!) && row.target === target,
      ),
      `${name}: ${reached}, ${target}`,
    )
})

const MOST_BYTES = 10_000

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

const pages = globSync(['README.md', 'src/**/*.md', '{test,projections}/**/README.md'], { cwd: root }).sort()

test('there are pages of modules', () => assert.ok(pages.length > 10))

for (const page of pages) {
  test(`${page} links to what is there`, () => {
    const content = read(page)
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
  const cells = tableOfFiles(read(page))
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
