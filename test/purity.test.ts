import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('purity')
const root = join(import.meta.dirname, '..')

/** What events and decisions may stand on: values in, values out. Of `node:crypto` only the hash function. */
const pure = new Set(['zod', 'fast-json-patch', "import { hash } from 'node:crypto'"])

const IMPORT = /^import (?!type )[^;]*?from '([^']+)'/gm

/** What a file imports that is no file of ours and not in `allowed`, directly or through others. */
const otherImports = (file: string, allowed: ReadonlySet<string>, seen = new Set<string>()): string[] => {
  if (seen.has(file)) return []
  seen.add(file)
  const imports = [...readFileSync(file, 'utf8').matchAll(IMPORT)]
  return imports.flatMap(([statement, path]) => {
    if (path!.startsWith('.')) return otherImports(join(dirname(file), path!), allowed, seen)
    return allowed.has(statement) || allowed.has(path!) ? [] : [`${file}: ${path}`]
  })
}

const ALL_IMPORTS = /^import [^;]*?from '(\.[^']+)'/gm

/** The files that a file stands on, also for a type only. */
const reached = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  for (const [, path] of readFileSync(file, 'utf8').matchAll(ALL_IMPORTS)) {
    const imported = join(dirname(file), path!)
    if (!seen.has(imported)) reached(imported, seen.add(imported))
  }
  return seen
}

/** What is around the core: requests, tables, and what is read from them. */
const AROUND =
  /^(?:projections|src\/(?:server\/http|eventstore\/postgres))\/|[/-](?:queries|reads|rows|routes|views)\.ts$/

// `eventstore/engine/decide.ts` runs decisions, it is none.
const files = globSync('src/server/{*,trace/messages}/{events,decide,decide-*}.ts', {
  cwd: root,
  exclude: ['src/eventstore/engine/*'],
}).sort()

test('files of events and decisions are found', () => assert.ok(files.length >= 8))

for (const file of files) {
  test(`${file} does no IO`, () => assert.equal(otherImports(join(root, file), pure), []))
  test(`${file} knows neither requests nor tables`, () => {
    const found = [...reached(join(root, file))].map((other) => relative(root, other))
    assert.equal(
      found.filter((other) => AROUND.test(other)),
      [],
    )
  })
}

for (const file of globSync('src/contract/*.ts', { cwd: root }).sort()) {
  test(`${file} runs in a browser`, () => assert.equal(otherImports(join(root, file), new Set(['zod'])), []))
}

test('a transcript needs nothing of Node, so that it can be rendered in a browser', () => {
  const needed = otherImports(join(root, 'src/transcript/transcript.ts'), new Set(['markdown-it', 'diff', 'anser']))
  assert.equal(
    needed.filter((one) => !/: highlight\.js\//.test(one)),
    [],
  )
})

test.run()
