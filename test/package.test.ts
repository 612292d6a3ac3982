import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from './eventstore/embedded/support.ts'
import { type Program, start, startService } from './commands/support/processes.ts'
import { newUser } from './commands/support/user.ts'

const test = suite('the package')

const root = join(import.meta.dirname, '..')
const OLDEST_NODE = '22'

const exec = promisify(execFile)
const npm = (cwd: string, ...args: string[]) => exec('npm', [...args, '--no-audit', '--no-fund'], { cwd })

/** Packs a copy of the checkout, which is left alone. Returns the path of the package. */
const pack = async (folder: string): Promise<string> => {
  const copy = join(folder, 'copy')
  await mkdir(copy)
  const needed = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'src', 'projections', 'migrations']
  const settings = (await readdir(root)).filter((name) => /^tsconfig.*\.json$/.test(name))
  for (const name of [...needed, ...settings]) await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await npm(copy, 'pack', '--pack-destination', folder)
  return join(
    folder,
    (await readdir(folder)).find((name) => name.endsWith('.tgz'))!,
  )
}

/** A folder with nothing but the package in it, and the oldest Node that it promises to run on. */
const install = async (folder: string, file: string): Promise<{ node: string; bin: string }> => {
  const [place, runtime] = [join(folder, 'empty'), join(folder, 'runtime')]
  for (const made of [place, runtime]) await mkdir(made)
  await npm(place, 'install', file)
  await writeFile(join(runtime, 'package.json'), JSON.stringify({ allowScripts: { node: true } }))
  await npm(runtime, 'install', `node@${OLDEST_NODE}`)
  return {
    node: join(runtime, 'node_modules', '.bin', 'node'),
    bin: join(place, 'node_modules', '.bin', 'tracebook'),
  }
}

/** Makes Node say which modules it loads. */
const LOADS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeSync } from 'node:fs'
  registerHooks({ load(url, context, next) { writeSync(2, 'loads ' + url + '\\n'); return next(url, context) } })`)}`

/** What parses arguments and shows help, and what is ours. */
const OF_HELP = /node_modules\/(?:commander|tracebook)\//

const loadedBy = async ([file, ...before]: Program, ...args: string[]): Promise<readonly string[]> => {
  const { stderr } = await exec(file, ['--import', LOADS, ...before, ...args])
  return [...stderr.matchAll(/^loads (.*)$/gm)].map(([, url]) => url!)
}

const check = () =>
  inFolder(async (folder) => {
    const { node, bin } = await install(folder, await pack(folder))
    const program: Program = [node, bin]

    const list = await exec(node, [bin, '--help'])
    assert.match(list.stdout, /^Usage: tracebook/)
    assert.is(list.stderr, '')
    const ofList = (await loadedBy(program, '--help')).filter((url) => url.includes('/tracebook/'))
    assert.ok(ofList.length <= 12, `the list of commands loads ${ofList.join('\n')}`)
    for (const name of ['login', 'sync', 'ls', 'serve', 'audit'])
      assert.equal(
        (await loadedBy(program, name, '--help')).filter((url) => /^file:/.test(url) && !OF_HELP.test(url)),
        [],
        name,
      )

    const nowhere = 'http://127.0.0.1:9/api.json'
    const service = await startService(join(folder, 'data'), 0, program, { CATALOGUE_URL: nowhere })
    assert.is((await fetch(`${service.url}/v1/models/anthropic/claude-opus-4-5`)).status, 200, 'the catalogue')
    const page = await (await fetch(service.url, { headers: { accept: 'text/html' } })).text()
    const script = /<script type="module" src="([^"]+)">/.exec(page)?.[1]
    assert.is((await fetch(service.url + String(script))).status, 200, `the script of a page: ${script}`)

    const user = newUser(join(folder, 'user'), service.url, (args, variables) => start(args, variables, program).ended)
    await cp(join(root, 'test', 'fixtures', 'sync'), user.claude, { recursive: true })
    assert.is((await user.run('login')).how, 0)
    const synced = await user.run('sync')
    assert.is(synced.how, 0, synced.err)
    assert.match(synced.out, /synced 2 sessions: 6 messages \(6 new\)/)
    assert.is((await service.end('SIGTERM')).how, 0)
  })

/** Whether packages can be installed here. */
const hasRegistry = () =>
  npm(root, 'view', 'node', 'name').then(
    () => true,
    () => false,
  )

const sentence = `installs into an empty folder, knows models without a network, and does login, sync and serve on Node ${OLDEST_NODE}`
if (await hasRegistry()) test(sentence, check)
else {
  console.log('SKIP the package is not installed: no package registry can be reached')
  test.skip(sentence, check)
}

test.run()
