import { join } from 'node:path'
import { run } from 'uvu/run'

/** Runs the test files that are named, one after the other, in this process. */
const files = process.argv.slice(2)
await run(files.map((file) => ({ name: file, file: join(process.cwd(), file) })))

const { UVU_QUEUE: queue } = globalThis as unknown as { readonly UVU_QUEUE: readonly (readonly unknown[])[] }
for (const [at, file] of files.entries()) {
  if (queue[at]!.length > 0) continue
  console.error(`${file} ran no test: is test.run() missing?`)
  process.exitCode = 1
}
