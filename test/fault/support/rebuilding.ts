import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { howItEnded } from './service.ts'
import { soon } from './soon.ts'
import type { World } from './world.ts'

const main = new URL('../../../src/main.ts', import.meta.url).pathname

/** The part of a world that a command needs. */
type Reached = Pick<World, 'environment'>

const environmentOf = (world: Reached) => ({ ...process.env, ...world.environment(), LOG_LEVEL: 'warn' })

/** `tracebook rebuild` as an operator starts it. */
export const startRebuild = (world: Reached): { child: ChildProcess; ended: Promise<number | string> } => {
  const child = spawn(process.execPath, [main, 'rebuild'], { env: environmentOf(world), stdio: 'ignore' })
  return { child, ended: howItEnded(child) }
}

/**
 * Parts of the errors after which a rebuild is tried again: a frozen rebuild loses its lock after some seconds, one that the service
 * itself has started finishes, and on a very busy machine a rebuild that does nothing for five seconds loses its session.
 */
const MAY_PASS = ['another rebuild is running', 'is still being read', 'was broken off']

/** Rebuilds the read models once no other rebuild runs. @throws Error with the output of the command */
export const rebuildNow = (world: Reached): Promise<void> =>
  soon('another rebuild is running', () => {
    return new Promise((resolve, reject) => {
      execFile(process.execPath, [main, 'rebuild'], { env: environmentOf(world) }, (error, _, said) => {
        if (!error) resolve(true)
        else if (MAY_PASS.some((words) => said.includes(words))) resolve(false)
        else reject(new Error(`the rebuild has failed: ${said}`))
      })
    })
  })
