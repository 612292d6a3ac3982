import { join } from 'node:path'
import { FILE_END, NO_MORE_FILES } from './test-process.ts'

/**
 * Runs the test files whose paths it receives, one after another, until a message says that all have run. Modules are loaded once for
 * all files. After each file it writes to both outputs that the file has ended.
 */
type Uvu = { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: unknown[][] }
const uvu = globalThis as unknown as Uvu
uvu.UVU_DEFER = 1 // set before uvu is loaded, so that no suite runs by itself
const { exec } = await import('uvu')

const runFile = async (file: string) => {
  const suites: unknown[] = [file]
  uvu.UVU_QUEUE.splice(0, Number.POSITIVE_INFINITY, suites)
  uvu.UVU_INDEX = 0
  await import(join(process.cwd(), file))
  await exec()
  process.exitCode = 0 // the figures of uvu say how many have failed
  for (const stream of [process.stdout, process.stderr]) stream.write(FILE_END)
}

process.on('message', (file: string) => (file === NO_MORE_FILES ? process.disconnect?.() : void runFile(file)))
