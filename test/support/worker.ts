import { join } from 'node:path'
import { FILE_END, NO_MORE_FILES } from './test-process.ts'

/**
 * Runs the test files whose paths it is sent, one after another, until it is told that there are no more. What they import is loaded
 * once for all of them. After each file it writes on both outputs that the file has ended.
 */
type Uvu = { UVU_DEFER: number; UVU_INDEX: number; UVU_QUEUE: unknown[][] }
const uvu = globalThis as unknown as Uvu
uvu.UVU_DEFER = 1 // so that no suite runs by itself, which uvu decides when it is loaded
const { exec } = await import('uvu')

const runFile = async (file: string) => {
  const suites: unknown[] = [file]
  uvu.UVU_QUEUE.splice(0, Number.POSITIVE_INFINITY, suites)
  uvu.UVU_INDEX = 0
  await import(join(process.cwd(), file))
  await exec()
  process.exitCode = 0 // uvu’s figures say how many have failed
  for (const stream of [process.stdout, process.stderr]) stream.write(FILE_END)
}

process.on('message', (file: string) => (file === NO_MORE_FILES ? process.disconnect?.() : void runFile(file)))
