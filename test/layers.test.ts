import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('layers')
const root = join(import.meta.dirname, '..')

/** The houses of `src`, with what each may import. `projections` belongs to the server; `main.ts` starts the command line. */
const houses: Readonly<Record<string, readonly string[]>> = {
  base: [],
  cli: ['base'],
  contract: ['base'],
  transcript: ['base', 'contract'],
  eventstore: ['base'],
  tables: ['base', 'eventstore', 'contract'],
  server: ['base', 'contract', 'transcript', 'eventstore', 'tables', 'projections'],
  projections: ['base', 'contract', 'eventstore', 'tables', 'server'],
  client: ['base', 'cli', 'contract', 'transcript'],
  commands: ['base', 'cli', 'contract', 'eventstore', 'tables', 'projections', 'server', 'client'],
  'main.ts': ['cli', 'commands'],
}

/**
 * The rooms of the two houses that have many, in layers from the lowest up: a file imports from its own room, from others of its layer, and from those
 * of lower layers. A room is a folder of the house, or a file directly in it.
 */
const layers: readonly (readonly string[])[] = [
  ['eventstore/postgres'],
  ['eventstore/log', 'eventstore/embedded', 'eventstore/backup'],
  ['eventstore/engine'],
  ['server/pages', 'server/http'],
  [
    ...['server/user', 'server/session', 'server/namespace', 'server/models', 'server/usage', 'server/trace'],
    ...['server/commit'],
    ...['server/events.ts', 'server/effects.ts', 'projections'],
  ],
  [
    ...['server/feed', 'server/history', 'server/search', 'server/signin', 'server/summary'],
    ...['server/attribution', 'server/erasure', 'server/retention'],
  ],
  ['server/export', 'server/proof', 'server/web', 'server/mcp'],
  ['server/realtime', 'server/health'],
  ['server/config.ts'],
  ['server/service', 'scripts of pages'],
]

const IMPORT = /^(?:import|export) [^;]*?from '(\.[^']+)'/gm
/** Also one that is loaded when it is needed. */
const LATE_IMPORT = /import\(.(\.[^)]+).\)/g

const ANY_IMPORT = /^(?:import|export) [^;]*?from '([^']+)'/gm

const houseOf = (file: string): string => {
  const [top = '', house = ''] = file.split('/')
  return top === 'src' ? house : top
}
const roomOf = (file: string): string => {
  if (file.startsWith('src/server/pages/client/')) return 'scripts of pages'
  const house = houseOf(file)
  return house === 'server' || house === 'eventstore' ? `${house}/${file.split('/')[2]}` : house
}
const layerOf = (file: string): number => layers.findIndex((rooms) => rooms.includes(roomOf(file)))

const files = globSync(['src/**/*.ts', 'projections/**/*.ts'], { cwd: root, exclude: ['**/*.d.ts'] }).sort()
const imports = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path]) => ({
    file,
    imported: normalize(join(dirname(file), path!)),
  })),
)

test('every folder of src is a house, and every room of the server and the event store is in a layer', () => {
  assert.equal([...new Set(files.map(houseOf))].sort(), Object.keys(houses).sort())
  const rooms = new Set(files.map(roomOf).filter((room) => !(room in houses) || room === 'projections'))
  assert.equal([...rooms].sort(), layers.flat().sort())
})

test('a house imports what it may, and nothing else but libraries and the version of the package', () => {
  const found = imports.filter(({ file, imported }) => {
    const house = houseOf(file)
    return houseOf(imported) !== house && imported !== 'package.json' && !houses[house]!.includes(houseOf(imported))
  })
  assert.equal(found, [])
})

test('no file imports from a higher layer of its house', () => {
  const found = imports
    .filter(({ file, imported }) => layerOf(file) >= 0 && layerOf(imported) > layerOf(file))
    .map(({ file, imported }) => `${file} -> ${imported}`)
  assert.equal([...new Set(found)].sort(), [])
})

/** Takes away what imports nothing that is left, until nothing changes: what is then left imports itself, by others. */
const circles = (arrows: readonly { readonly from: string; readonly to: string }[]) => {
  let left = arrows
  for (let before = Infinity; left.length < before;) {
    before = left.length
    const importing = new Set(left.map(({ from }) => from))
    left = left.filter(({ to }) => importing.has(to))
  }
  return left.map(({ from, to }) => `${from} -> ${to}`)
}

test('rooms do not import each other in circles', () => {
  const arrows = imports
    .map(({ file, imported }) => ({ from: roomOf(file), to: roomOf(imported) }))
    .filter(({ from, to }) => from !== to)
  assert.equal([...new Set(circles(arrows))], [])
})

test('files do not import each other in circles, not even for a type', () => {
  const late = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(LATE_IMPORT)].map(([, path]) => ({
      from: file,
      to: normalize(join(dirname(file), path!)),
    })),
  )
  assert.equal(circles([...imports.map(({ file, imported }) => ({ from: file, to: imported })), ...late]), [])
})

test('the client knows the contract by its types only', () => {
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\/(?!realtime-client\/)/m
  assert.equal(
    files.filter((file) => houseOf(file) === 'client' && atRunTime.test(readFileSync(join(root, file), 'utf8'))),
    [],
    'these load it',
  )
})

test('the scripts of pages are files of their own, clients of the service, and know the contract by its types only', () => {
  const allowed = ['scripts of pages', 'contract']
  // These need nothing of Node.js.
  const ofBase = ['time-ahead', 'sub-agents', 'folded', 'normal-form'].map((name) => `src/base/${name}.ts`)
  const ofRows = ['src/server/pages/row-facts.ts', 'src/transcript/head.ts', 'src/transcript/html/ticks.ts']
  const shared = [...ofBase, ...ofRows]
  const found = imports.filter(
    ({ file, imported }) =>
      roomOf(file) === 'scripts of pages' && !allowed.includes(roomOf(imported)) && !shared.includes(imported),
  )
  assert.equal(found, [])
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\/(?!realtime-client\/)/m
  const scripts = files.filter((file) => roomOf(file) === 'scripts of pages')
  assert.equal(
    scripts.filter((file) => atRunTime.test(readFileSync(join(root, file), 'utf8'))),
    [],
    'these load it',
  )
  assert.equal(
    imports.filter(({ file, imported }) => roomOf(imported) === 'scripts of pages' && !scripts.includes(file)),
    [],
    'nothing else imports them',
  )
})

test('HTML is made by the template of the transcript, in transcripts and pages', () => {
  const makesHtml = /<!doctype html|<\/(?:p|div|main|html|a|form)>|&lt;/
  const found = files.filter((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    return makesHtml.test(source.replaceAll(/^ *(?:\/\*\*|\*|\/\/).*$/gm, '')) && !source.includes('/markup.ts')
  })
  assert.equal(
    found,
    ['src/client/watch/service/launchd.ts', 'src/transcript/html/markup.ts'],
    'a property list is XML',
  )
  const rooms = new Set(
    imports.filter(({ imported }) => imported.endsWith('/markup.ts')).map(({ file }) => roomOf(file)),
  )
  assert.equal([...rooms].sort(), ['client', 'server/pages', 'transcript'])
})

test('transcripts stand on base files, on the types of the contract, and on libraries that run in a browser', () => {
  const libraries = new Set(['markdown-it', 'diff', 'anser'])
  const found = files
    .filter((file) => roomOf(file) === 'transcript')
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(ANY_IMPORT)]
        .filter(([statement, path = '']) => {
          const module = path.startsWith('.') ? roomOf(normalize(join(dirname(file), path))) : undefined
          if (module === 'contract') return !statement.startsWith('import type ')
          if (module !== undefined) return module !== 'transcript' && module !== 'base'
          return !libraries.has(path) && !path.startsWith('highlight.js/')
        })
        .map(([, path]) => `${file} -> ${path}`),
    )
  assert.equal(found, [])
})

test.run()
