import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const root = join(import.meta.dirname, '..', '..')
const SCRIPTS = ['types', 'lint', 'test:pure']
const NODE_COMPILE_CACHE = join(root, 'node_modules', '.cache', 'compiled-tools')

/** Runs one of the package's scripts; `node --run` starts it in a tenth of the time that npm takes. */
const run = async (script: string): Promise<boolean> => {
  const started = performance.now()
  const child = spawn(process.execPath, ['--run', script], { cwd: root, env: { ...process.env, NODE_COMPILE_CACHE } })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(code === 0 ? `pass ${script} (${seconds} s)` : `\nFAIL ${script} (${seconds} s)\n${out}${err}`)
  return code === 0
}

// Several at once, on all cores; the output of each is printed separately.
const passed = await Promise.all(SCRIPTS.map(run))
process.exitCode = passed.every(Boolean) ? 0 : 1
