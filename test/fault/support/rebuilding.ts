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
 * One that is frozen gives its lock up after some seconds, and a service that rebuilds by itself comes to an end. A machine so
 * busy that a rebuild does nothing for five seconds costs it its session.
 */
const MAY_PASS = ['another rebuild is running', 'is still being read', 'was broken off']

/** Rebuilds the read models, as soon as no other rebuild is at it. @throws Error with what the command says */
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
