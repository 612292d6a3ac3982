import { globSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Result, runFile } from './files.ts'
import { type TestServer, startServer } from './server.ts'

const root = join(import.meta.dirname, '..', '..')

const print = ({ file, passed, problem, output, ms }: Result) => {
  if (problem) console.log(`\nFAIL ${file}: ${problem}\n${output}`)
  else console.log(`pass ${file} (${passed}, ${(ms / 1000).toFixed(1)} s)`)
}

const runAll = async (files: string[], server: TestServer, folder: string, signal: AbortSignal): Promise<Result[]> => {
  const results: Result[] = []
  const left = files.entries()
  const work = async () => {
    for (const [i, file] of left) {
      if (signal.aborted) return
      const result = await runFile(file, { root, folder: join(folder, `${i}`), env: server.env, signal })
      if (!signal.aborted) print(result)
      results.push(result)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return results
}

const sum = (results: Result[]) => {
  const total = (key: 'passed' | 'failed' | 'skipped') => results.reduce((sum, result) => sum + result[key], 0)
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''
  console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`)
  return results.length > 0 && total('failed') === 0
}

/** Runs the test files whose paths contain one of the filters, or all of them; gives the exit code. */
const main = async (filters: string[], signal: AbortSignal): Promise<number> => {
  const files = globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort()
  if (files.length === 0) console.log(`no test file matches ${filters.join(' ')}`)
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-test-'))
  let server: TestServer | undefined
  try {
    await chmod(folder, 0o711) // an embedded Postgres may run as somebody else, who has to get in
    server = await startServer(folder, signal)
    return sum(await runAll(files, server, folder, signal)) ? 0 : 1
  } finally {
    await server?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const stopping = new AbortController()
let code: number | undefined
for (const [name, number] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.once(name, () => {
    code = number
    stopping.abort()
  })
}
const result = await main(process.argv.slice(2), stopping.signal).catch((error) => {
  if (code === undefined) console.error(error)
  return 1
})
process.exitCode = code ?? result
