import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { io, widthOf } from './io.ts'
import stringWidth from 'string-width'
import { writeOut } from './output.ts'

/** Prints a long text piece by piece. */
type Screen = {
  /** False when the user has quit the pager, so that the rest need not be printed. */
  readonly print: (text: string) => Promise<boolean>
  /** Prints the rest, and waits until the user quits the pager. */
  readonly end: () => Promise<void>
}

/** Options of less, as git sets them: keep colors and the screen, and quit if everything fits. */
const LESS = 'FRX'

const isInPath = (name: string): boolean =>
  (io().env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** The user's pager: `PAGER`, else less if it is installed. */
const pagerCommand = (): string | undefined => {
  const { PAGER } = io().env
  if (PAGER !== undefined) return PAGER.trim() === '' || PAGER === 'cat' ? undefined : PAGER
  return isInPath('less') ? 'less' : undefined
}

const plainScreen: Screen = {
  print: async (text) => {
    await writeOut(text)
    return true
  },
  end: async () => {},
}

/** Whether a text is longer than the terminal. */
const isLong = (text: string): boolean => {
  const { stdout } = io()
  const [columns, rows] = [widthOf(stdout) ?? 80, stdout.rows || 24]
  let lines = 0
  for (const line of text.split('\n')) {
    lines += Math.max(1, Math.ceil(stringWidth(line) / columns))
    if (lines > rows) return true
  }
  return false
}

const startPager = (command: string) => {
  const env = { ...io().env, LESS: io().env['LESS'] ?? LESS }
  const child: ChildProcess = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env })
  const input = child.stdin!
  const ended = once(child, 'close').catch(() => {})
  let isOpen = true
  // The user has quit the pager.
  input.on('error', () => (isOpen = false))
  input.on('close', () => (isOpen = false))
  // Ctrl-C is for the pager; this process waits for it.
  process.on('SIGINT', () => {})
  return {
    print: async (text: string) => {
      if (isOpen && !input.write(text)) await Promise.race([once(input, 'drain').catch(() => {}), ended])
      return isOpen
    },
    end: async () => {
      input.end()
      await ended
    },
  }
}

/** Shows text in a pager if it is longer than the terminal. Without a terminal, and without `usesPager`, it prints the text. */
export const openScreen = ({ usesPager }: { readonly usesPager: boolean }): Screen => {
  const command = usesPager && io().stdout.isTTY ? pagerCommand() : undefined
  if (command === undefined) return plainScreen
  let kept = ''
  let pager: Screen | undefined
  return {
    print: async (text) => {
      if (pager) return pager.print(text)
      kept += text
      if (!isLong(kept)) return true
      pager = startPager(command)
      return pager.print(kept)
    },
    end: () => (pager ? pager.end() : writeOut(kept)),
  }
}
