import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/**
 * A process of its own that has the database at `path` open as `database`, and runs `script` in it. What the script prints
 * with `say` is awaited one by one. `stop` kills it, so that it closes nothing.
 */
export const otherProcess = (path: string, script: string) => {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      `import { DatabaseSync } from 'node:sqlite'
       const say = (text) => process.stdout.write(text + '\\n')
       const database = new DatabaseSync(${JSON.stringify(path)})
       setInterval(() => {}, 1000)
       ${script}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    said: async (): Promise<string> => ((await lines.next()) as { readonly value: string }).value,
    stop: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
