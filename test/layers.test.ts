import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('layers')
const root = join(import.meta.dirname, '..')

/**
 * The rooms, from the ground up: a file imports from its own room, from those on lower floors, and from those on its own
 * floor. A room is a folder of `src`, a file directly in it, or a folder at the top.
 */
const floors: readonly (readonly string[])[] = [
  [
    'json',
    'cli',
    'bounded-map.ts',
    'ids.ts',
    'logger.ts',
    'metrics.ts',
    'pause.ts',
    'percent.ts',
    'text-caps.ts',
    'text-ends.ts',
    'uuid.ts',
    'low-priority.ts',
  ],
  ['postgres'],
  ['log', 'embedded'],
  ['engine'],
  ['http'],
  ['user', 'session', 'namespace', 'models', 'trace', 'events.ts', 'projections'],
  ['feed', 'signin', 'summary', 'erasure'],
  ['config.ts'],
  ['service.ts', 'groups-health.ts'],
  ['app.ts', 'open-service.ts'],
  ['serve.ts', 'sync'],
  ['commands'],
  ['main.ts'],
]

/**
 * What routes are given is one type, made of all features' types: the type alone may be asked for from below. It is to be
 * replaced by what each feature says it needs.
 */
const GIVEN = 'src/service.ts'

/** Imports that run up all the same, as `file -> file`, each with its reason. */
const upwards: Readonly<Record<string, string>> = {
  'src/http/caller.ts -> src/namespace/events.ts': 'a caller has a role in a namespace, in the words of the namespace',
  'src/http/long-list.ts -> src/trace/lost-rights.ts': 'who reads a list, and what ends that, is said of traces',
  'src/http/reading.ts -> src/trace/lost-rights.ts': 'the same',
  'src/http/recent-losses.ts -> src/trace/lost-rights.ts': 'the same; with the function that tells which events end it',
}

const IMPORT = /^(?:import|export) ((?:type )?)[^;]*?from '(\.[^']+)'/gm

const roomOf = (file: string): string => {
  const [top = '', second = ''] = file.split('/')
  return top === 'src' ? second : top
}
const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)))

const files = globSync(['src/**/*.ts', 'projections/**/*.ts'], { cwd: root, exclude: ['**/*.d.ts'] }).sort()
const imports = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, type, path]) => ({
    file,
    isType: type !== '',
    imported: normalize(join(dirname(file), path!)),
  })),
)

test('every room has its floor', () => {
  const rooms = new Set(files.map(roomOf))
  assert.equal([...rooms].filter((room) => !floors.flat().includes(room)).sort(), [])
  assert.equal(
    floors.flat().filter((room) => !rooms.has(room)),
    [],
  )
})

test('no import runs up, but those that are named with a reason', () => {
  const found = imports
    .filter(({ file, imported, isType }) => floorOf(imported) > floorOf(file) && !(isType && imported === GIVEN))
    .map(({ file, imported }) => `${file} -> ${imported}`)
  assert.equal([...new Set(found)].filter((one) => !Object.hasOwn(upwards, one)).sort(), [])
  assert.equal(
    Object.keys(upwards)
      .filter((one) => !found.includes(one))
      .sort(),
    [],
    'named, but not there',
  )
})

test('the client knows the service by its API only', () => {
  const allowed = new Set(['sync', ...floors[0]!])
  const found = imports.filter(({ file, imported }) => roomOf(file) === 'sync' && !allowed.has(roomOf(imported)))
  assert.equal(found, [])
})

test.run()
