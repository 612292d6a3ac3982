import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('layers')
const root = join(import.meta.dirname, '..')

/**
 * The layers, from the lowest up, each with its modules: a file imports from its own module, from others of its layer, and from those of lower
 * layers. A module is a folder of `src`, a file directly in it, or a folder at the top.
 */
const layers: readonly (readonly string[])[] = [
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

/** Arrows between modules that close a circle, each with its reason. */
const circular: { readonly [arrow: string]: string } = {
  'app.ts -> service':
    'the type of what the routes need, which is all that a service has opened; the service starts the app',
}

const IMPORT = /^(?:import|export) [^;]*?from '(\.[^']+)'/gm
/** Also one that is loaded when it is needed. */
const LATE_IMPORT = /import\(.(\.[^)]+).\)/g

const ANY_IMPORT = /^(?:import|export) [^;]*?from '([^']+)'/gm

const moduleOf = (file: string): string => {
  if (file.startsWith('src/pages/client/')) return 'scripts of pages'
  const [top = '', second = ''] = file.split('/')
  return top === 'src' ? second : top
}
const layerOf = (file: string): number => layers.findIndex((modules) => modules.includes(moduleOf(file)))

const files = globSync(['src/**/*.ts', 'projections/**/*.ts'], { cwd: root, exclude: ['**/*.d.ts'] }).sort()
const imports = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, path]) => ({
    file,
    imported: normalize(join(dirname(file), path!)),
  })),
)

test('every folder of src is in a layer', () => {
  const modules = new Set(files.map(moduleOf))
  assert.equal([...modules].filter((module) => !layers.flat().includes(module)).sort(), [])
  assert.equal(
    layers.flat().filter((module) => !modules.has(module)),
    [],
  )
})

test('no file imports from a higher layer', () => {
  const found = imports
    .filter(({ file, imported }) => layerOf(imported) > layerOf(file))
    .map(({ file, imported }) => `${file} -> ${imported}`)
  assert.equal([...new Set(found)].sort(), [])
})

test('base imports nothing but itself and libraries', () => {
  const found = imports.filter(({ file, imported }) => moduleOf(file) === 'base' && moduleOf(imported) !== 'base')
  assert.equal(found, [{ file: 'src/base/version.ts', imported: 'package.json' }])
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

test('folders do not import each other in circles', () => {
  const arrows = imports
    .map(({ file, imported }) => ({ from: moduleOf(file), to: moduleOf(imported) }))
    .filter(({ from, to }) => from !== to && !(`${from} -> ${to}` in circular))
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

test('the client knows the service by its contract only, and that by its types', () => {
  const allowed = new Set(['sync', 'contract', 'transcript', 'cli', 'base'])
  const found = imports.filter(({ file, imported }) => moduleOf(file) === 'sync' && !allowed.has(moduleOf(imported)))
  assert.equal(found, [])
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\//m
  assert.equal(
    files.filter((file) => moduleOf(file) === 'sync' && atRunTime.test(readFileSync(join(root, file), 'utf8'))),
    [],
    'these load it',
  )
})

test('the scripts of pages are files of their own, clients of the service, and know the contract by its types only', () => {
  const allowed = ['scripts of pages', 'contract']
  const found = imports.filter(
    ({ file, imported }) => moduleOf(file) === 'scripts of pages' && !allowed.includes(moduleOf(imported)),
  )
  assert.equal(found, [])
  const atRunTime = /^(?:import (?!type )|export )(?:(?! from )[^;])*? from '[^']*\/contract\/(?!realtime-client\/)/m
  const scripts = files.filter((file) => moduleOf(file) === 'scripts of pages')
  assert.equal(
    scripts.filter((file) => atRunTime.test(readFileSync(join(root, file), 'utf8'))),
    [],
    'these load it',
  )
  assert.equal(
    imports.filter(({ file, imported }) => moduleOf(imported) === 'scripts of pages' && !scripts.includes(file)),
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
  const modules = new Set(
    imports.filter(({ imported }) => imported.endsWith('/markup.ts')).map(({ file }) => moduleOf(file)),
  )
  assert.equal([...modules].sort(), ['pages', 'sync', 'transcript'])
})

test('transcripts stand on base files, on the types of the contract, and on libraries that run in a browser', () => {
  const libraries = new Set(['markdown-it', 'diff', 'anser'])
  const found = files
    .filter((file) => moduleOf(file) === 'transcript')
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(ANY_IMPORT)]
        .filter(([statement, path = '']) => {
          const module = path.startsWith('.') ? moduleOf(normalize(join(dirname(file), path))) : undefined
          if (module === 'contract') return !statement.startsWith('import type ')
          if (module !== undefined) return module !== 'transcript' && module !== 'base'
          return !libraries.has(path) && !path.startsWith('highlight.js/')
        })
        .map(([, path]) => `${file} -> ${path}`),
    )
  assert.equal(found, [])
})

test.run()
