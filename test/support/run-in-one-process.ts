import { join } from 'node:path'

/**
 * Runs the test files that are named in this process, each when the one before has ended: a file's own set-up is done when its
 * turn comes. What they import is loaded once for all of them.
 */
type Uvu = { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: unknown[][] }
const uvu = globalThis as unknown as Uvu
uvu.UVU_DEFER = 1 // so that no suite runs by itself, which uvu decides when it is loaded
const { exec } = await import('uvu')

let hasFailed = false
for (const file of process.argv.slice(2)) {
  const suites: unknown[] = [file]
  uvu.UVU_QUEUE.splice(0, Number.POSITIVE_INFINITY, suites)
  uvu.UVU_INDEX = 0
  await import(join(process.cwd(), file))
  if (suites.length === 1) {
    console.error(`${file} ran no test: is test.run() missing?`)
    hasFailed = true
    continue
  }
  await exec()
  if (process.exitCode) hasFailed = true
}
process.exitCode = hasFailed ? 1 : 0
