import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('layers')
const root = join(import.meta.dirname, '..')

/**
 * The rooms, from the ground up: a file imports from its own room, from those on lower floors, and from those on its own
 * floor. A room is a folder of `src`, a file directly in it, a folder at the top, or the tables, which all features read.
 */
const floors: readonly (readonly string[])[] = [
  ['base'],
  ['cli'],
  ['postgres', 'contract'],
  ['tables', 'transcript'],
  ['pages'],
  ['log', 'embedded', 'backup'],
  ['engine'],
  ['http'],
  ['user', 'session', 'namespace', 'models', 'trace', 'events.ts', 'effects.ts', 'projections'],
  ['feed', 'history', 'search', 'signin', 'summary', 'erasure', 'retention'],
  ['export', 'proof', 'web', 'mcp'],
  ['realtime', 'health'],
  ['config.ts'],
  ['app.ts', 'service', 'sync', 'tail', 'scripts of pages'],
  ['commands'],
  ['main.ts'],
]

/** Arrows between rooms that close a circle, each with its reason. */
const circular: { readonly [arrow: string]: string } = {
  'app.ts -> service':
    'the type of what the routes need, which is all that a service has opened; the service starts the app',
}

const IMPORT = /^(?:import|export) [^;]*?from '(\.[^']+)'/gm

const tables = /^projections\/((timeline|search)\/)?tables?\.ts$/

const ANY_IMPORT = /^(?:import|export) [^;]*?from '([^']+)'/gm

const roomOf = (file: string): string => {
  if (tables.test(file)) return 'tables'
  if (file.startsWith('src/pages/client/')) return 'scripts of pages'
  const [top = '', second = ''] = file.split('/')
  return top === 'src' ? second : top
}
const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)))

const files = globSync(['src/**/*.ts', 'projections/**/*.ts'], { cwd: root, exclude: ['**/*.d.ts'] }).sort()
const imports = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path]) => ({
    file,
    imported: normalize(join(dirname(file), path!)),
  })),
)

test('every folder of src is on a floor', () => {
  const rooms = new Set(files.map(roomOf))
  assert.equal([...rooms].filter((room) => !floors.flat().includes(room)).sort(), [])
  assert.equal(
    floors.flat().filter((room) => !rooms.has(room)),
    [],
  )
})

test('no file imports from a higher floor', () => {
  const found = imports
    .filter(({ file, imported }) => floorOf(imported) > floorOf(file))
    .map(({ file, imported }) => `${file} -> ${imported}`)
  assert.equal([...new Set(found)].sort(), [])
})

test('base imports nothing but itself and libraries', () => {
  const found = imports.filter(({ file, imported }) => roomOf(file) === 'base' && roomOf(imported) !== 'base')
  assert.equal(found, [{ file: 'src/base/version.ts', imported: 'package.json' }])
})

test('folders do not import each other in circles', () => {
  let left = [...new Set(imports.map(({ file, imported }) => `${roomOf(file)} -> ${roomOf(imported)}`))]
    .map((arrow) => ({ arrow, rooms: arrow.split(' -> ') as [string, string] }))
    .filter(({ arrow, rooms: [from, to] }) => from !== to && !(arrow in circular))
  for (let before = Infinity; left.length < before;) {
    before = left.length
    const importing = new Set(left.map(({ rooms: [from] }) => from))
    left = left.filter(({ rooms: [, to] }) => importing.has(to))
  }
  assert.equal(
    left.map(({ arrow }) => arrow),
    [],
  )
})

test('the client knows the service by its contract only, and that by its types', () => {
  const allowed = new Set(['sync', 'contract', 'transcript', 'cli', 'base'])
  const found = imports.filter(({ file, imported }) => roomOf(file) === 'sync' && !allowed.has(roomOf(imported)))
  assert.equal(found, [])
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\//m
  assert.equal(
    files.filter((file) => roomOf(file) === 'sync' && atRunTime.test(readFileSync(join(root, file), 'utf8'))),
    [],
    'these load it',
  )
})

test('the scripts of pages are files of their own, clients of the service, and know the contract by its types only', () => {
  const allowed = ['scripts of pages', 'contract']
  const found = imports.filter(
    ({ file, imported }) =>
      roomOf(file) === 'scripts of pages' &&
      !allowed.includes(roomOf(imported)) &&
      !imported.startsWith('src/realtime/client/'),
  )
  assert.equal(found, [])
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\//m
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
  assert.equal(found, ['src/sync/watch/service/launchd.ts', 'src/transcript/html/markup.ts'], 'a property list is XML')
  const rooms = new Set(
    imports.filter(({ imported }) => imported.endsWith('/markup.ts')).map(({ file }) => roomOf(file)),
  )
  assert.equal([...rooms].sort(), ['pages', 'sync', 'transcript'])
})

test('transcripts stand on base files, on the types of the contract, and on libraries that run in a browser', () => {
  const libraries = new Set(['markdown-it', 'diff', 'anser'])
  const found = files
    .filter((file) => roomOf(file) === 'transcript')
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(ANY_IMPORT)]
        .filter(([statement, path = '']) => {
          const room = path.startsWith('.') ? roomOf(normalize(join(dirname(file), path))) : undefined
          if (room === 'contract') return !statement.startsWith('import type ')
          if (room !== undefined) return room !== 'transcript' && room !== 'base'
          return !libraries.has(path) && !path.startsWith('highlight.js/')
        })
        .map(([, path]) => `${file} -> ${path}`),
    )
  assert.equal(found, [])
})

test.run()
